"""Makes the bodies of the tests, by the encoders that servers have. Needs `pip install brotli zstandard`."""

import gzip
import pathlib
import zlib

import brotli
import zstandard

HERE = pathlib.Path(__file__).parent
TEXT = ('{"items": [' + ", ".join(f'{{"id": {i}, "name": "item {i}"}}' for i in range(40)) + "]}").encode()
BOMB = bytes(8 << 20)


def bare(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def gzipped(data):
    return gzip.compress(data, mtime=0)


def zstd(data):
    return zstandard.ZstdCompressor(level=10).compress(data)


FILES = {
    "text.gzip": gzipped(TEXT),
    "text.two-members.gzip": gzipped(TEXT[:100]) + gzipped(TEXT[100:]),
    "text.zlib.deflate": zlib.compress(TEXT),
    "text.bare.deflate": bare(TEXT),
    "text.br": brotli.compress(TEXT),
    "text.zstd": zstd(TEXT),
    "text.gzip.br": brotli.compress(gzipped(TEXT)),
    "bomb.gzip": gzipped(BOMB),
    "bomb.deflate": zlib.compress(BOMB),
    "bomb.br": brotli.compress(BOMB),
    "bomb.zstd": zstd(BOMB),
    "bomb.gzip.gzip": gzipped(gzipped(BOMB)),
}
for name, data in FILES.items():
    (HERE / name).write_bytes(data)
(HERE / "text").write_bytes(TEXT)
