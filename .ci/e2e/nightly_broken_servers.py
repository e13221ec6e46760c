"""Broken but common servers: the outcome word of each was fixed before it was tried. What curl reads is read, where the end of
the response is certain; framing that can be read in two ways is an error with its reason."""

import badserver
from badserver import says, says_and_closes
from harness import check, conserved, expect, reasons, run

OK = b"HTTP/1.1 200 OK\r\n"
TE = OK + b"Transfer-Encoding: chunked\r\n"
LOAD = ["-n", "4", "-c", "2", "--timeout", "1s"]


def at_once(data):
    """Answers before the request is there, and then reads it."""

    def behaviour(connection):
        connection.sendall(data)
        badserver.request_of(connection)

    return behaviour


def early(data):
    """Answers as soon as the first byte of a request is there."""

    def behaviour(connection):
        while connection.recv(1):
            connection.sendall(data)
            # Byte by byte: the next request may follow at once.
            end = b""
            while end != b"\r\n\r\n":
                end = (end + connection.recv(1))[-4:]

    return behaviour


# Name; what the server does; the outcome word; what the report must say of it.
SERVERS = [
    # Lines.
    ("bare LF throughout", says(b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello"), "ok", ""),
    ("bare LF in one line", says(OK + b"Server: x\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("no reason phrase", says(b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("no reason phrase and no space", says(b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("reason phrase in UTF-8", says("HTTP/1.1 200 Très bien\r\nContent-Length: 5\r\n\r\nhello".encode()), "ok", ""),
    ("names in lower case", says(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nserver: x\r\n\r\nhello"), "ok", ""),
    ("names in upper case", says(b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: 5\r\n\r\nhello"), "ok", ""),
    ("an empty value", says(OK + b"X-Empty:\r\nX-Blank:  \r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("no space after the colon", says(OK + b"Content-Length:5\r\n\r\nhello"), "ok", ""),
    ("spaces around a value", says(OK + b"Content-Length: \t 5 \t\r\n\r\nhello"), "ok", ""),
    ("a value in Latin-1", says(OK + b"X-Name: caf\xe9\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("a folded value (obs-fold)", says(OK + b"X-Long: a\r\n b\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("a folded value, bare LF", says(OK + b"X-Long: a\n\tb\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("a folded Content-Length", says(OK + b"Content-Length:\r\n 5\r\n\r\nhello"), "protocol", "header"),
    ("a fold before the first header", says(OK + b" X: a\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "header"),
    ("a space before the colon", says(OK + b"Content-Length : 5\r\n\r\nhello"), "protocol", "header"),
    ("a line without a colon", says(OK + b"nonsense\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "header"),
    ("a control character in a value", says(OK + b"X: a\x01b\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "header"),
    ("an empty line first", says(b"\r\n" + OK + b"Content-Length: 5\r\n\r\nhello"), "protocol", "status line"),
    ("HTTP/0.9", says_and_closes(b"hello"), "protocol", "status line"),
    ("HTTP/2 in plain", says(b"HTTP/2 200\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "neither HTTP/1.0"),
    ("ICY of shoutcast", says_and_closes(b"ICY 200 OK\r\n\r\nhello"), "protocol", "status line"),
    # Content-Length.
    ("Content-Length twice, equal", says(OK + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("Content-Length: 5, 5", says(OK + b"Content-Length: 5, 5\r\n\r\nhello"), "ok", ""),
    ("Content-Length twice, different", says(OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), "protocol", "Content-Length"),
    ("Content-Length: +5", says(OK + b"Content-Length: +5\r\n\r\nhello"), "protocol", "Content-Length"),
    ("Content-Length: 5 bytes", says(OK + b"Content-Length: 5 bytes\r\n\r\nhello"), "protocol", "Content-Length"),
    ("Content-Length, empty", says(OK + b"Content-Length:\r\n\r\nhello"), "protocol", "Content-Length"),
    ("Content-Length too long, then closed", says_and_closes(OK + b"Content-Length: 9\r\n\r\nhello"), "reset", ""),
    ("Content-Length too long, then silence", says(OK + b"Content-Length: 9\r\n\r\nhello"), "timeout", ""),
    ("garbage after the response", says(OK + b"Content-Length: 5\r\n\r\nhello, world"), "ok", ""),
    ("a line end after the response", says(OK + b"Content-Length: 5\r\n\r\nhello\r\n"), "ok", ""),
    ("two responses to one request", says(2 * (OK + b"Content-Length: 5\r\n\r\nhello")), "ok", ""),
    ("204 with a body", says(b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("304 with a length and no body", says(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"), "ok", ""),
    # To the end of the connection.
    ("no length, closed", says_and_closes(OK + b"\r\nhello"), "ok", ""),
    ("no length, kept open", says(OK + b"\r\nhello"), "timeout", ""),
    ("HTTP/1.0 without keep-alive", says_and_closes(b"HTTP/1.0 200 OK\r\n\r\nhello"), "ok", ""),
    ("HTTP/1.0 with keep-alive", says(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("HTTP/1.0 that says nothing and stays", says(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("Transfer-Encoding: gzip, closed", says_and_closes(OK + b"Transfer-Encoding: gzip\r\n\r\nhello"), "ok", ""),
    ("Transfer-Encoding: gzip with a length, kept open", says(OK + b"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "Transfer-Encoding"),
    ("Transfer-Encoding: gzip with a length, closed", says_and_closes(OK + b"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "Transfer-Encoding"),
    ("Transfer-Encoding: identity with a length", says(OK + b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("Transfer-Encoding: identity, closed", says_and_closes(OK + b"Transfer-Encoding: identity\r\n\r\nhello"), "ok", ""),
    ("Transfer-Encoding: xyz, closed", says_and_closes(OK + b"Transfer-Encoding: xyz\r\n\r\nhello"), "ok", ""),
    ("Transfer-Encoding, empty", says(OK + b"Transfer-Encoding:\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "Transfer-Encoding"),
    # Chunks.
    ("chunked", says(TE + b"\r\n5\r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("CHUNKED", says(OK + b"Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("chunked and a length", says(TE + b"Content-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("gzip, chunked", says(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("chunked, gzip, closed", says_and_closes(OK + b"Transfer-Encoding: chunked, gzip\r\n\r\nhello"), "ok", ""),
    ("chunked twice", says(OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "protocol", "Transfer-Encoding"),
    ("chunked in HTTP/1.0", says(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("a space after the chunk size", says(TE + b"\r\n5 \r\nhello\r\n0\r\n\r\n"), "ok", ""),
    ("a tab after the chunk size", says(TE + b"\r\n5\t\r\nhello\r\n0 \r\n\r\n"), "ok", ""),
    ("chunk sizes padded to eight", says(TE + b"\r\n5       \r\nhello\r\n0       \r\n\r\n"), "ok", ""),
    ("chunk sizes with leading zeros", says(TE + b"\r\n0005\r\nhello\r\n0000\r\n\r\n"), "ok", ""),
    ("a space before the chunk size", says(TE + b"\r\n 5\r\nhello\r\n0\r\n\r\n"), "protocol", "chunk"),
    ("a chunk extension", says(TE + b"\r\n5;a=b\r\nhello\r\n0;c\r\n\r\n"), "ok", ""),
    ("a chunk extension with odd spaces", says(TE + b"\r\n5 ; a = \"b;c\" \r\nhello\r\n0 ;\r\n\r\n"), "ok", ""),
    ("chunk lines that end in bare LF", says(TE + b"\r\n5\nhello\n0\n\n"), "ok", ""),
    ("chunk sizes that end in bare LF", says(TE + b"\r\n5\nhello\r\n0\n\r\n"), "ok", ""),
    ("a trailer", says(TE + b"\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"), "ok", ""),
    ("chunk size 0x5", says(TE + b"\r\n0x5\r\nhello\r\n0\r\n\r\n"), "protocol", "chunk"),
    ("chunk size of two numbers", says(TE + b"\r\n5 5\r\nhello\r\n0\r\n\r\n"), "protocol", "chunk"),
    ("negative chunk size", says(TE + b"\r\n-5\r\nhello\r\n0\r\n\r\n"), "protocol", "chunk"),
    ("a chunk longer than it says", says(TE + b"\r\n4\r\nhello\r\n0\r\n\r\n"), "protocol", "chunk"),
    ("no last chunk, closed", says_and_closes(TE + b"\r\n5\r\nhello\r\n"), "reset", ""),
    ("no last chunk, kept open", says(TE + b"\r\n5\r\nhello\r\n"), "timeout", ""),
    ("last chunk without its empty line, closed", says_and_closes(TE + b"\r\n5\r\nhello\r\n0\r\n"), "reset", ""),
    # Before the response.
    ("100 before the response", says(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello"), "ok", ""),
    ("102 and 103 before the response", says(b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello"), "ok", ""),
    ("101 unasked", says(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), "protocol", "switched"),
    ("as soon as a byte of the request is there", early(OK + b"Content-Length: 5\r\n\r\nhello"), "ok", ""),
    # Whether it comes before the request is a matter of microseconds; what comes after it cannot be told from its response.
    ("before the request", at_once(OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello"), "ok or protocol", "before its request"),
    # Status.
    ("status 299", says(b"HTTP/1.1 299 Odd\r\nContent-Length: 5\r\n\r\nhello"), "ok", ""),
    ("status 600", says(b"HTTP/1.1 600 Odd\r\nContent-Length: 5\r\n\r\nhello"), "status", ""),
    ("status 99", says(b"HTTP/1.1 099 Odd\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "status line"),
    ("status 20", says(b"HTTP/1.1 20 Odd\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "status line"),
    ("no status", says(b"HTTP/1.1 OK\r\nContent-Length: 5\r\n\r\nhello"), "protocol", "status line"),
]


@check("broken servers: the outcome word that was fixed beforehand, and the reason of each protocol error")
def broken_servers(tmp):
    wrong = []
    for number, (name, behaviour, outcome, reason) in enumerate(SERVERS):
        with badserver.BadServer(behaviour) as bad:
            ended = run(bad.url, *LOAD, tmp=tmp, name=f"broken-{number}")
        summary = ended.summary
        conserved(summary)
        if not set(summary["outcomes"]) <= set(outcome.split(" or ")):
            wrong.append(f"{name}: expected only {outcome}, seen {summary['outcomes']}")
        elif outcome == "protocol":
            found = reasons(summary, "protocol")
            if reason not in found:
                wrong.append(f"{name}: expected the reason {reason!r}, seen {found!r}")
    expect(not wrong, "\n".join(wrong))
