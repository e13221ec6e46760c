//! The four shapes of a column: a number, a number that may be missing, a word of a fixed list, and a flag; and one that only some logs have.
//!
//! Each is generic over its two closures, so that the loop over the rows is compiled for the column and costs no
//! call per cell.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{Cells, Column};
use crate::metadata::Metadata;
use arrow_array::types::{ArrowPrimitiveType, Int8Type};
use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBufferBuilder, ScalarBuffer};
use arrow_schema::DataType;

/// A column of numbers that every row has.
pub(super) const fn required<T, G, S, R>(
    name: &'static str,
    about: &'static str,
    get: G,
    set: S,
) -> Required<T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> T::Native,
    S: Fn(&mut R, T::Native),
{
    Required { name, about, get, set, cell: PhantomData }
}

/// A column of numbers that a row may lack.
pub(super) const fn nullable<T, G, S, R>(
    name: &'static str,
    about: &'static str,
    get: G,
    set: S,
) -> Nullable<T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> Option<T::Native>,
    S: Fn(&mut R, T::Native),
{
    Nullable { name, about, get, set, cell: PhantomData }
}

/// A column of words from a list; `get` and `set` speak of the place in the list.
pub(super) const fn words<G, S, R>(
    name: &'static str,
    about: &'static str,
    list: &'static [&'static str],
    get: G,
    set: S,
) -> Words<G, S>
where
    G: Fn(&R) -> i8,
    S: Fn(&mut R, usize),
{
    Words { name, about, list, nullable: false, get, set }
}

/// The same where a log may lack the word: null leaves the field as it is.
pub(super) const fn words_or_none<G, S, R>(
    name: &'static str,
    about: &'static str,
    list: &'static [&'static str],
    get: G,
    set: S,
) -> Words<G, S>
where
    G: Fn(&R) -> i8,
    S: Fn(&mut R, usize),
{
    Words { name, about, list, nullable: true, get, set }
}

/// A column of yes or no.
pub(super) const fn flag<G, S, R>(name: &'static str, about: &'static str, get: G, set: S) -> Flag<G, S>
where
    G: Fn(&R) -> bool,
    S: Fn(&mut R, bool),
{
    Flag { name, about, get, set }
}

/// A column of logs whose metadata has that key, and of no others.
pub(super) struct OnlyWith<C> {
    pub key: &'static str,
    pub column: C,
}

impl<R, C: Column<R>> Column<R> for OnlyWith<C> {
    fn name(&self) -> &'static str {
        self.column.name()
    }
    fn about(&self) -> &'static str {
        self.column.about()
    }
    fn data_type(&self) -> DataType {
        self.column.data_type()
    }
    fn nullable(&self) -> bool {
        true
    }
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>> {
        self.column.builder(capacity)
    }
    fn builder_for(&'static self, metadata: &Metadata, capacity: usize) -> Option<Box<dyn Cells<R>>> {
        metadata.contains_key(self.key).then(|| self.builder(capacity))
    }
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String> {
        self.column.fill(cells, rows)
    }
}

pub(super) struct Required<T, G, S> {
    name: &'static str,
    about: &'static str,
    get: G,
    set: S,
    cell: PhantomData<fn() -> T>,
}

pub(super) struct Nullable<T, G, S> {
    name: &'static str,
    about: &'static str,
    get: G,
    set: S,
    cell: PhantomData<fn() -> T>,
}

pub(super) struct Words<G, S> {
    name: &'static str,
    about: &'static str,
    list: &'static [&'static str],
    nullable: bool,
    get: G,
    set: S,
}

pub(super) struct Flag<G, S> {
    name: &'static str,
    about: &'static str,
    get: G,
    set: S,
}

/// The cells as an array of type `A`, or what they are instead.
fn as_array<A: Array + 'static>(cells: &dyn Array) -> Result<&A, String> {
    cells.as_any().downcast_ref().ok_or_else(|| format!("unexpected type {}", cells.data_type()))
}

impl<R, T, G, S> Column<R> for Required<T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> T::Native + Sync,
    S: Fn(&mut R, T::Native) + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        self.about
    }
    fn data_type(&self) -> DataType {
        T::DATA_TYPE
    }
    fn nullable(&self) -> bool {
        false
    }
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>> {
        Box::new(Numbers { column: self, values: Vec::with_capacity(capacity), capacity })
    }
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String> {
        let cells = as_array::<PrimitiveArray<T>>(cells)?;
        if cells.null_count() > 0 {
            return Err("null where a value is required".to_string());
        }
        for (row, &value) in rows.iter_mut().zip(cells.values()) {
            (self.set)(row, value);
        }
        Ok(())
    }
}

impl<R, T, G, S> Column<R> for Nullable<T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> Option<T::Native> + Sync,
    S: Fn(&mut R, T::Native) + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        self.about
    }
    fn data_type(&self) -> DataType {
        T::DATA_TYPE
    }
    fn nullable(&self) -> bool {
        true
    }
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>> {
        let nulls = NullBufferBuilder::new(capacity);
        Box::new(MaybeNumbers { column: self, values: Vec::with_capacity(capacity), nulls, capacity })
    }
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String> {
        let cells = as_array::<PrimitiveArray<T>>(cells)?;
        let pairs = rows.iter_mut().zip(cells.values());
        match cells.nulls() {
            None => pairs.for_each(|(row, &value)| (self.set)(row, value)),
            Some(nulls) => pairs
                .zip(nulls)
                .filter(|(_, valid)| *valid)
                .for_each(|((row, &value), _)| (self.set)(row, value)),
        }
        Ok(())
    }
}

impl<R, G, S> Column<R> for Words<G, S>
where
    G: Fn(&R) -> i8 + Sync,
    S: Fn(&mut R, usize) + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        self.about
    }
    fn data_type(&self) -> DataType {
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
    }
    fn nullable(&self) -> bool {
        self.nullable
    }
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>> {
        let list: ArrayRef = Arc::new(StringArray::from(self.list.to_vec()));
        Box::new(WordKeys { column: self, list, keys: Vec::with_capacity(capacity), capacity })
    }
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String> {
        let cells = as_array::<DictionaryArray<Int8Type>>(cells)?;
        if cells.keys().null_count() > 0 && !self.nullable {
            return Err("null where a value is required".to_string());
        }
        // The log's list may be another than ours: in another order, or with words of a later version, which are
        // an error only where a row uses one.
        let list = as_array::<StringArray>(cells.values().as_ref())?;
        let places: Vec<Option<usize>> =
            list.iter().map(|word| self.list.iter().position(|known| Some(*known) == word)).collect();
        for (at, (row, &key)) in rows.iter_mut().zip(cells.keys().values()).enumerate() {
            if cells.keys().is_null(at) {
                continue;
            }
            let key = usize::try_from(key).map_err(|_| format!("negative dictionary key {key}"))?;
            match places.get(key) {
                Some(Some(place)) => (self.set)(row, *place),
                Some(None) if list.is_null(key) => return Err("null where a value is required".to_string()),
                Some(None) => return Err(format!("`{}` is not known to this version", list.value(key))),
                None => return Err(format!("dictionary key {key} of {} words", places.len())),
            }
        }
        Ok(())
    }
}

impl<R, G, S> Column<R> for Flag<G, S>
where
    G: Fn(&R) -> bool + Sync,
    S: Fn(&mut R, bool) + Sync,
{
    fn name(&self) -> &'static str {
        self.name
    }
    fn about(&self) -> &'static str {
        self.about
    }
    fn data_type(&self) -> DataType {
        DataType::Boolean
    }
    fn nullable(&self) -> bool {
        false
    }
    fn builder(&'static self, capacity: usize) -> Box<dyn Cells<R>> {
        Box::new(Flags { column: self, bits: BooleanBufferBuilder::new(capacity) })
    }
    fn fill(&self, cells: &dyn Array, rows: &mut [R]) -> Result<(), String> {
        let cells = as_array::<BooleanArray>(cells)?;
        if cells.null_count() > 0 {
            return Err("null where a value is required".to_string());
        }
        for (row, value) in rows.iter_mut().zip(cells.values()) {
            (self.set)(row, value);
        }
        Ok(())
    }
}

struct Numbers<'c, T: ArrowPrimitiveType, G, S> {
    column: &'c Required<T, G, S>,
    values: Vec<T::Native>,
    capacity: usize,
}

impl<R, T, G, S> Cells<R> for Numbers<'static, T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> T::Native + Sync,
    S: Sync,
{
    fn append(&mut self, rows: &[R]) {
        self.values.extend(rows.iter().map(&self.column.get));
    }
    fn finish(&mut self) -> ArrayRef {
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(self.capacity));
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None))
    }
}

struct MaybeNumbers<'c, T: ArrowPrimitiveType, G, S> {
    column: &'c Nullable<T, G, S>,
    values: Vec<T::Native>,
    nulls: NullBufferBuilder,
    capacity: usize,
}

impl<R, T, G, S> Cells<R> for MaybeNumbers<'static, T, G, S>
where
    T: ArrowPrimitiveType,
    G: Fn(&R) -> Option<T::Native> + Sync,
    S: Sync,
{
    fn append(&mut self, rows: &[R]) {
        let get = &self.column.get;
        self.values.extend(rows.iter().map(|row| get(row).unwrap_or_default()));
        // A block is most often all there or all missing (a plain HTTP run has no TLS span at all): counted first,
        // because setting bits one by one costs more than the values themselves.
        match rows.iter().filter(|row| get(row).is_some()).count() {
            0 => self.nulls.append_n_nulls(rows.len()),
            n if n == rows.len() => self.nulls.append_n_non_nulls(n),
            _ => rows.iter().for_each(|row| self.nulls.append(get(row).is_some())),
        }
    }
    fn finish(&mut self) -> ArrayRef {
        let values = std::mem::replace(&mut self.values, Vec::with_capacity(self.capacity));
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), self.nulls.finish()))
    }
}

struct WordKeys<'c, G, S> {
    column: &'c Words<G, S>,
    /// One array for all batches, so that the stream writer sees at a glance that it is written already.
    list: ArrayRef,
    keys: Vec<i8>,
    capacity: usize,
}

impl<R, G, S> Cells<R> for WordKeys<'static, G, S>
where
    G: Fn(&R) -> i8 + Sync,
    S: Sync,
{
    fn append(&mut self, rows: &[R]) {
        self.keys.extend(rows.iter().map(&self.column.get));
    }
    fn finish(&mut self) -> ArrayRef {
        let keys = std::mem::replace(&mut self.keys, Vec::with_capacity(self.capacity));
        let keys = PrimitiveArray::<Int8Type>::new(ScalarBuffer::from(keys), None);
        Arc::new(DictionaryArray::new(keys, Arc::clone(&self.list)))
    }
}

struct Flags<'c, G, S> {
    column: &'c Flag<G, S>,
    bits: BooleanBufferBuilder,
}

impl<R, G, S> Cells<R> for Flags<'static, G, S>
where
    G: Fn(&R) -> bool + Sync,
    S: Sync,
{
    fn append(&mut self, rows: &[R]) {
        rows.iter().for_each(|row| self.bits.append((self.column.get)(row)));
    }
    fn finish(&mut self) -> ArrayRef {
        Arc::new(BooleanArray::new(self.bits.finish(), None))
    }
}
