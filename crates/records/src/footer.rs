//! What makes an Arrow IPC file of a stream: a magic before it, and behind its end mark a footer with the place of each batch.
//!
//! A log is a stream while it is written, so that it can be read after a kill; the footer comes with the end mark, in the same
//! write. It takes 24 bytes of memory per batch until then.

use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::DictionaryTracker;
use arrow_ipc::{
    Block, FooterBuilder, KeyValue, KeyValueArgs, MessageHeader, MetadataVersion, root_as_footer_with_opts,
    root_as_message,
};
use arrow_schema::Schema;
use flatbuffers::{FlatBufferBuilder, VerifierOptions};
use headway_base::Nanos;

use crate::metadata::STOPPED_AT_NS;

/// The first bytes of an Arrow IPC file; the stream begins behind them.
pub(crate) const HEAD: [u8; 8] = *b"ARROW1\0\0";
/// The last bytes of one, behind the length of the footer.
const TAIL: [u8; 6] = *b"ARROW1";
/// Bytes of the end mark of a stream.
pub(crate) const END_MARK: u64 = 8;
/// Bytes behind a footer: its length and [`TAIL`].
pub(crate) const TRAILER: usize = 10;

/// Where the batches of a log are.
#[derive(Default)]
pub(crate) struct Places {
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

impl Places {
    /// Notes the messages in `bytes`, which a stream writer made, and which stand at byte `at` of the log.
    pub(crate) fn note(&mut self, bytes: &[u8], at: u64) {
        let mut rest = bytes;
        // The end mark, of metadata of no bytes, holds no message.
        while let Some((length, message)) = length_of_metadata(rest).filter(|(length, _)| *length > 0) {
            let Some(message) = message.get(..length).and_then(|message| root_as_message(message).ok())
            else {
                return;
            };
            let (metadata, body) = (8 + length, message.bodyLength());
            let place = at + (bytes.len() - rest.len()) as u64;
            let block = Block::new(place as i64, metadata as i32, body);
            match message.header_type() {
                MessageHeader::DictionaryBatch => self.dictionaries.push(block),
                MessageHeader::RecordBatch => self.batches.push(block),
                _ => {}
            }
            rest = rest.get(metadata + body as usize..).unwrap_or_default();
        }
    }

    /// The footer and what follows it, of a log with that schema, of a run that was stopped then if it was.
    pub(crate) fn footer(&self, schema: &Schema, stopped_at: Option<Nanos>) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector(&self.dictionaries);
        let batches = builder.create_vector(&self.batches);
        // Numbers dictionaries in the order of the fields, as the stream writer does.
        let mut tracker = DictionaryTracker::new(true);
        let schema = IpcSchemaEncoder::new()
            .with_dictionary_tracker(&mut tracker)
            .schema_to_fb_offset(&mut builder, schema);
        let said = stopped_at.map(|at| {
            let (key, value) =
                (builder.create_string(STOPPED_AT_NS), builder.create_string(&at.0.to_string()));
            let said = KeyValue::create(&mut builder, &KeyValueArgs { key: Some(key), value: Some(value) });
            builder.create_vector(&[said])
        });
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        if let Some(said) = said {
            footer.add_custom_metadata(said);
        }
        let footer = footer.finish();
        builder.finish(footer, None);
        let footer = builder.finished_data();
        let length = (footer.len() as i32).to_le_bytes();
        [footer, &length, &TAIL].concat()
    }
}

/// Length of the metadata of the message at the beginning of `bytes`, and what follows that length.
fn length_of_metadata(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (prefix, message) = bytes.split_first_chunk::<8>()?;
    let length = i32::from_le_bytes(prefix[4..].try_into().ok()?);
    Some((usize::try_from(length).ok()?, message))
}

/// When the run of a log with that footer was stopped, if it says so.
pub(crate) fn stopped_at(footer: &[u8]) -> Option<Nanos> {
    let options =
        VerifierOptions { max_apparent_size: footer.len() * 4 + (16 << 10), ..VerifierOptions::default() };
    let footer = root_as_footer_with_opts(&options, footer).ok()?;
    let said = footer.custom_metadata()?.iter().find(|said| said.key() == Some(STOPPED_AT_NS))?;
    said.value()?.parse().ok().map(Nanos)
}

/// Length of the footer before `trailer`, if that is one.
pub(crate) fn length(trailer: [u8; TRAILER]) -> Option<u64> {
    let footer = i32::from_le_bytes([trailer[0], trailer[1], trailer[2], trailer[3]]);
    u64::try_from(footer).ok().filter(|_| trailer[4..] == TAIL)
}
