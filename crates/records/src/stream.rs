//! Walks the messages of an Arrow IPC file or stream and lets only sound ones through to the decoder.
//!
//! The decoder of crate `arrow-ipc` trusts offsets and lengths where this one does not: it slices, multiplies and
//! allocates by what a message says. So every length is checked here first, against the bytes that the file really
//! has. What is left to the decoder is only what cannot hurt: values within their buffers.
//!
//! A stream may end anywhere: a length that points past the end of the file is the mark of a writer that was
//! killed, and ends the log without being an error. A footer is not used: the messages tell where they end. (Logs of 0.1.0
//! are streams without the magic of a file.) It looks like a damaged length; the bytes left over say
//! how much was given up.

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Endianness, Message, MessageHeader, MetadataVersion, root_as_message_with_opts};
use arrow_schema::{Schema, SchemaRef};
use flatbuffers::VerifierOptions;
use headway_base::Nanos;

use crate::error::Error;
use crate::footer;

/// How a log ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// With its end mark: the writer finished.
    Complete,
    /// Without: the writer was killed, the disk was full, or the run is still going on.
    Truncated {
        /// Where the last complete batch ends, in bytes from the start of the file.
        at: u64,
        /// Bytes of an incomplete batch after it.
        bytes_left_over: u64,
    },
}

const CONTINUATION: [u8; 4] = [0xff; 4];

/// Bytes of the longest footer that is read: of some two million batches.
const LONGEST_FOOTER: u64 = 64 << 20;

/// Words that a dictionary may have. Its keys have 8 bits; more words than these are of no use.
const WORDS_MAX: usize = 256;

/// Whether a column of that name is one that the caller reads: others are skipped.
pub(crate) type IsKnown = fn(&str) -> bool;

pub(crate) trait Bytes: Read + Seek + Send {}
impl<T: Read + Seek + Send> Bytes for T {}

/// A stream, read message by message.
pub(crate) struct Stream {
    path: PathBuf,
    bytes: Box<dyn Bytes>,
    length: u64,
    /// Where the first message begins: behind the magic of a file, or at 0.
    begins: u64,
    /// Where the next message begins.
    at: u64,
    /// Where the last one began.
    message_at: u64,
    head: Option<Head>,
    dictionaries: HashMap<i64, ArrayRef>,
    ending: Option<Ending>,
    /// When the run was stopped, by the footer.
    stopped_at: Option<Nanos>,
}

struct Head {
    schema: SchemaRef,
    /// Places in the schema of the columns that we know, in the order of the schema.
    known: Vec<usize>,
    /// The same columns alone, by which dictionaries are looked up: those of others are skipped.
    projected: SchemaRef,
    dictionary_ids: Vec<i64>,
}

/// One message, its lengths checked against the file.
struct Frame {
    at: u64,
    metadata: Vec<u8>,
    body_at: u64,
}

impl Stream {
    /// Reads the schema. A stream that ends before has no schema, and its ending says so.
    pub(crate) fn open(mut bytes: Box<dyn Bytes>, path: &Path, is_known: IsKnown) -> Result<Stream, Error> {
        let io = |source| Error::io(path, "read the log", source);
        let length = bytes.seek(SeekFrom::End(0)).map_err(io)?;
        bytes.seek(SeekFrom::Start(0)).map_err(io)?;
        let mut magic = [0; footer::HEAD.len()];
        let got = length.min(magic.len() as u64) as usize;
        bytes.read_exact(&mut magic[..got]).map_err(io)?;
        let begins = if magic == footer::HEAD { got as u64 } else { 0 };
        let mut stream = Stream {
            path: path.to_path_buf(),
            bytes,
            length,
            begins,
            at: begins,
            message_at: begins,
            head: None,
            dictionaries: HashMap::new(),
            ending: None,
            stopped_at: None,
        };
        if (1..magic.len()).contains(&got) && footer::HEAD.starts_with(&magic[..got]) {
            stream.ending = Some(Ending::Truncated { at: 0, bytes_left_over: length });
            return Ok(stream);
        }
        stream.stopped_at = stream.said_at_the_end()?;
        stream.bytes.seek(SeekFrom::Start(begins)).map_err(io)?;
        if let Some(frame) = stream.next_frame()? {
            let head = read_head(&frame.metadata, is_known).map_err(|why| Error::not_a_log(path, why))?;
            stream.take_body(&frame)?;
            stream.head = Some(head);
        }
        Ok(stream)
    }

    /// The schema, or none if the stream ended before it.
    pub(crate) fn schema(&self) -> Option<&Schema> {
        self.head.as_ref().map(|head| &*head.schema)
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// When the run was stopped, if the log says so with its end mark.
    pub(crate) fn stopped_at(&self) -> Option<Nanos> {
        self.stopped_at
    }

    /// What the footer says of the end of the run, where there is a footer.
    fn said_at_the_end(&mut self) -> Result<Option<Nanos>, Error> {
        let behind_the_head = self.length.saturating_sub(self.begins);
        if self.begins == 0 || behind_the_head < footer::TRAILER as u64 {
            return Ok(None);
        }
        let trailer = self.trailer()?;
        let Some(footer) = footer::length(trailer).filter(|&footer| footer <= LONGEST_FOOTER) else {
            return Ok(None);
        };
        let back = footer + footer::TRAILER as u64;
        if back > behind_the_head {
            return Ok(None);
        }
        self.seek(SeekFrom::End(-(back as i64)))?;
        let mut bytes = vec![0; footer as usize];
        self.read(&mut bytes)?;
        Ok(footer::stopped_at(&bytes))
    }

    fn trailer(&mut self) -> Result<[u8; footer::TRAILER], Error> {
        let mut trailer = [0; footer::TRAILER];
        self.seek(SeekFrom::End(-(footer::TRAILER as i64)))?;
        self.read(&mut trailer)?;
        Ok(trailer)
    }

    fn seek(&mut self, to: SeekFrom) -> Result<(), Error> {
        let sought = self.bytes.seek(to);
        sought.map(drop).map_err(|source| Error::io(&self.path, "read the log", source))
    }

    /// Where the message of the last batch began, in bytes from the start of the file.
    pub(crate) fn position(&self) -> u64 {
        self.message_at
    }

    /// The next batch, of the known columns only; none at the end, and then there is an ending.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        while let Some(frame) = self.next_frame()? {
            if let Some(batch) = self.decode(&frame)? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    fn decode(&mut self, frame: &Frame) -> Result<Option<RecordBatch>, Error> {
        let path = self.path.clone();
        let corrupt = |why: &dyn std::fmt::Display| Error::corrupt(&path, frame.at, why);
        let message = parse(&frame.metadata).map_err(|why| corrupt(&why))?;
        let body = self.take_body(frame)?;
        let head = self.head.as_ref().ok_or_else(|| corrupt(&"a batch before the schema"))?;
        let version = message.version();
        match message.header_type() {
            MessageHeader::RecordBatch => {
                let batch =
                    message.header_as_record_batch().ok_or_else(|| corrupt(&"a batch without a head"))?;
                check_batch(&batch, body.len()).map_err(|why| corrupt(&why))?;
                let decoder = RecordBatchDecoder::try_new(
                    &body,
                    batch,
                    head.schema.clone(),
                    &self.dictionaries,
                    &version,
                );
                decoder
                    .and_then(|decoder| decoder.with_projection(Some(&head.known)).read_record_batch())
                    .map(Some)
                    .map_err(|why| corrupt(&why))
            }
            MessageHeader::DictionaryBatch => {
                let batch = message
                    .header_as_dictionary_batch()
                    .ok_or_else(|| corrupt(&"a dictionary without a head"))?;
                let id = batch.id();
                if !head.dictionary_ids.contains(&id) {
                    return Ok(None);
                }
                let data = batch.data().ok_or_else(|| corrupt(&"a dictionary without data"))?;
                check_batch(&data, body.len())
                    .and_then(|()| check_offsets(&data))
                    .map_err(|why| corrupt(&why))?;
                read_dictionary(&body, batch, &head.projected, &mut self.dictionaries, &version)
                    .map_err(|why| corrupt(&why))?;
                match self.dictionaries.get(&id) {
                    Some(words) if words.len() > WORDS_MAX => {
                        Err(corrupt(&format!("a dictionary of {} words; at most {WORDS_MAX}", words.len())))
                    }
                    _ => Ok(None),
                }
            }
            other => Err(corrupt(&format!("an unexpected message: {other:?}"))),
        }
    }

    /// The next message whose every byte is there. None at the end of the stream, and then there is an ending.
    fn next_frame(&mut self) -> Result<Option<Frame>, Error> {
        if self.ending.is_some() {
            return Ok(None);
        }
        let at = self.at;
        let left = self.length - at;
        let mut prefix = [0; 8];
        let got = left.min(8) as usize;
        self.read(&mut prefix[..got])?;
        if prefix[..got.min(4)] != CONTINUATION[..got.min(4)] {
            // After a power cut some file systems leave a tail of zeros: bytes promised and never written.
            if at > self.begins && prefix == [0; 8] && self.only_zeros_follow()? {
                return Ok(self.end_truncated());
            }
            let why = "the bytes that begin an Arrow stream's message are missing";
            return Err(match at == self.begins {
                true => Error::not_a_log(&self.path, why),
                false => Error::corrupt(&self.path, at, why),
            });
        }
        if got < 8 {
            return Ok(self.end_truncated());
        }
        let said = i32::from_le_bytes([prefix[4], prefix[5], prefix[6], prefix[7]]);
        if said == 0 {
            if self.begins > 0 && !self.footer_follows(left - footer::END_MARK)? {
                return Ok(self.end_truncated());
            }
            self.ending = Some(Ending::Complete);
            return Ok(None);
        }
        let Ok(metadata_length) = u64::try_from(said) else {
            return Err(Error::corrupt(&self.path, at, format!("a message of {said} bytes")));
        };
        if metadata_length > left - 8 {
            return Ok(self.end_truncated());
        }
        let mut metadata = vec![0; metadata_length as usize];
        self.read(&mut metadata)?;
        let body_length = body_length(&metadata).map_err(|why| Error::corrupt(&self.path, at, why))?;
        let body_at = at + 8 + metadata_length;
        if body_length > self.length - body_at {
            return Ok(self.end_truncated());
        }
        self.message_at = at;
        self.at = body_at + body_length;
        Ok(Some(Frame { at, metadata, body_at }))
    }

    /// Whether the `length` bytes behind the end mark are those of a footer: it is the last that a writer writes.
    fn footer_follows(&mut self, length: u64) -> Result<bool, Error> {
        if length < footer::TRAILER as u64 {
            return Ok(false);
        }
        Ok(footer::length(self.trailer()?).is_some_and(|footer| footer + footer::TRAILER as u64 == length))
    }

    fn take_body(&mut self, frame: &Frame) -> Result<Buffer, Error> {
        // Aligned as the decoder likes it, so that it need not copy.
        let mut body = MutableBuffer::from_len_zeroed((self.at - frame.body_at) as usize);
        self.read(body.as_slice_mut())?;
        Ok(body.into())
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), Error> {
        self.bytes.read_exact(into).map_err(|source| Error::io(&self.path, "read the log", source))
    }

    fn only_zeros_follow(&mut self) -> Result<bool, Error> {
        let mut buffer = [0; 4096];
        loop {
            match self.bytes.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(n) if buffer[..n].iter().all(|byte| *byte == 0) => {}
                Ok(_) => return Ok(false),
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::io(&self.path, "read the log", source)),
            }
        }
    }

    fn end_truncated(&mut self) -> Option<Frame> {
        self.ending = Some(Ending::Truncated { at: self.at, bytes_left_over: self.length - self.at });
        None
    }
}

/// The message, verified. Its tables may point to one another's parts, so that a few bytes can stand for gigabytes
/// once each part is copied out; a message normally says hardly anything twice.
fn parse(metadata: &[u8]) -> Result<Message<'_>, String> {
    let max_apparent_size = metadata.len() * 4 + (16 << 10);
    let options = VerifierOptions { max_apparent_size, ..VerifierOptions::default() };
    root_as_message_with_opts(&options, metadata).map_err(|why| why.to_string())
}

fn body_length(metadata: &[u8]) -> Result<u64, String> {
    let message = parse(metadata)?;
    if message.version() != MetadataVersion::V5 {
        return Err(format!("Arrow metadata of version {:?}; only V5 is read", message.version()));
    }
    u64::try_from(message.bodyLength()).map_err(|_| format!("a body of {} bytes", message.bodyLength()))
}

fn read_head(metadata: &[u8], is_known: IsKnown) -> Result<Head, String> {
    let message = parse(metadata)?;
    let said = message.header_as_schema().ok_or("an Arrow stream that does not begin with its schema")?;
    if said.endianness() != Endianness::Little {
        return Err("big-endian; only little-endian logs are read".to_string());
    }
    let schema = arrow_ipc::convert::try_fb_to_schema(said).map_err(|why| why.to_string())?;
    let known: Vec<usize> =
        (0..schema.fields().len()).filter(|&at| is_known(schema.field(at).name())).collect();
    let projected = Arc::new(schema.project(&known).map_err(|why| why.to_string())?);
    let dictionary_ids = said
        .fields()
        .into_iter()
        .flatten()
        .filter(|field| field.name().is_some_and(is_known))
        .filter_map(|field| field.dictionary().map(|dictionary| dictionary.id()))
        .collect();
    Ok(Head { schema: Arc::new(schema), known, projected, dictionary_ids })
}

/// Whether everything that the batch says of itself lies within its body. A row cannot take less than a bit; that
/// the column `k` takes eight bytes of it, the decoder checks, and so memory is bounded by the file.
fn check_batch(batch: &arrow_ipc::RecordBatch<'_>, body: usize) -> Result<(), String> {
    if batch.compression().is_some() {
        return Err("a compressed batch; logs are written without compression".to_string());
    }
    let bits = body as u64 * 8;
    let fits = |length: i64| u64::try_from(length).is_ok_and(|length| length <= bits);
    if !fits(batch.length()) {
        return Err(format!("a batch of {} rows in {body} bytes", batch.length()));
    }
    for node in batch.nodes().into_iter().flatten() {
        if !fits(node.length()) || !(0..=node.length()).contains(&node.null_count()) {
            return Err(format!("a column of {} rows, {} null", node.length(), node.null_count()));
        }
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, length) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
        let is_inside = matches!((offset, length), (Ok(offset), Ok(length))
            if offset.checked_add(length).is_some_and(|end| end <= body as u64));
        if !is_inside {
            return Err(format!(
                "a column of {} bytes at {} in a body of {body}",
                buffer.length(),
                buffer.offset()
            ));
        }
    }
    Ok(())
}

/// Whether the second buffer of a dictionary, the offsets of its words, is made of whole 32-bit numbers. The decoder
/// asserts so where it should ask.
fn check_offsets(words: &arrow_ipc::RecordBatch<'_>) -> Result<(), String> {
    match words.buffers().into_iter().flatten().nth(1) {
        Some(offsets) if offsets.length() % 4 != 0 => {
            Err(format!("a dictionary with {} bytes of offsets", offsets.length()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use arrow_ipc::{FieldArgs, MessageArgs, SchemaArgs};
    use flatbuffers::FlatBufferBuilder;

    use super::*;

    /// A schema of `fields` columns that are all the same table, with a name of `length` bytes.
    fn one_for_all(fields: usize, length: usize) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let name = builder.create_string(&"x".repeat(length));
        let type_type = arrow_ipc::Type::Int;
        let int = arrow_ipc::Int::create(&mut builder, &arrow_ipc::IntArgs { bitWidth: 64, is_signed: true });
        let field = FieldArgs {
            name: Some(name),
            type_type,
            type_: Some(int.as_union_value()),
            ..FieldArgs::default()
        };
        let field = arrow_ipc::Field::create(&mut builder, &field);
        let fields = builder.create_vector(&vec![field; fields]);
        let schema = SchemaArgs { fields: Some(fields), ..SchemaArgs::default() };
        let schema = arrow_ipc::Schema::create(&mut builder, &schema);
        let message = MessageArgs {
            version: MetadataVersion::V5,
            header_type: MessageHeader::Schema,
            header: Some(schema.as_union_value()),
            ..MessageArgs::default()
        };
        let message = Message::create(&mut builder, &message);
        builder.finish(message, None);
        builder.finished_data().to_vec()
    }

    #[test]
    fn a_schema_that_unfolds_to_gigabytes_is_refused() {
        assert!(read_head(&one_for_all(3, 10), |_| false).is_ok_and(|head| head.schema.fields().len() == 3));
        let folded = one_for_all(10_000, 200_000);
        assert!(folded.len() < 300_000);
        let why = read_head(&folded, |_| false).err().unwrap();
        assert!(why.contains("Apparent size"), "{why}");
    }
}
