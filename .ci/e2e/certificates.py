"""Certificates that openssl makes: an authority, and servers that are fine, expired or called something else."""

from harness import tool

CONFIG = """
[ca]
default_ca = this
[this]
dir = {folder}
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
prompt = no
[name]
CN = nobody
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
"""
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


class Authority:
    def __init__(self, tmp, name="authority"):
        self.folder = tmp / name
        self.folder.mkdir()
        self.config = self.folder / "openssl.cnf"
        self.config.write_text(CONFIG.format(folder=self.folder))
        (self.folder / "index.txt").touch()
        (self.folder / "serial").write_text("01\n")
        self.certificate = self.folder / "ca.pem"
        self.key = self.folder / "ca.key"
        tool(
            "openssl", "req", "-x509", "-config", self.config, "-extensions", "authority", *KEY, "-days", "2",
            "-subj", f"/CN=Headway check {name}", "-keyout", self.key, "-out", self.certificate,
        )

    def server(self, name, alternatives, dates=("-days", "1")):
        """Certificate and key of a server, as nginx's directives."""
        stem = self.folder / name
        tool(
            "openssl", "req", "-new", "-config", self.config, *KEY, "-subj", f"/CN={name}",
            "-addext", f"subjectAltName={alternatives}", "-keyout", f"{stem}.key", "-out", f"{stem}.csr",
        )
        tool(
            "openssl", "ca", "-batch", "-notext", "-config", self.config, "-cert", self.certificate,
            "-keyfile", self.key, *dates, "-in", f"{stem}.csr", "-out", f"{stem}.pem",
        )
        return f"ssl_certificate {stem}.pem; ssl_certificate_key {stem}.key;"

    def expired(self, name, alternatives):
        return self.server(name, alternatives, ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z"))
