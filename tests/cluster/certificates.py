"""What a ring needs for TLS, made by Java's own keytool: an authority, and a certificate for all of its nodes."""

import subprocess
from pathlib import Path

import jars

PASSWORD = "thriftstore"
DAYS = "30"


def make_certificates(folder, addresses):
    """The settings of a ring with TLS: its key store and its authority's certificate, in `folder`."""
    keys = Path(folder) / "node.p12"
    authority = Path(folder) / "ca.p12"
    certificate = Path(folder) / "ca.pem"
    for old in (keys, authority, certificate):
        old.unlink(missing_ok=True)
    names = "san=dns:localhost," + ",".join(f"ip:{address}" for address in addresses)

    generate = ["-genkeypair", "-keyalg", "EC", "-groupname", "secp256r1", "-validity", DAYS]
    _keytool(authority, "ca", *generate, "-dname", "CN=thriftstore tests", "-ext", "bc:c", "-ext", "ku:c=keyCertSign")
    certificate.write_bytes(_keytool(authority, "ca", "-exportcert", "-rfc"))
    _keytool(keys, "node", *generate, "-dname", "CN=localhost")
    request = _keytool(keys, "node", "-certreq")
    signed = _keytool(authority, "ca", "-gencert", "-rfc", "-validity", DAYS, "-ext", names, given=request)
    _keytool(keys, "ca", "-importcert", "-noprompt", "-file", str(certificate))
    _keytool(keys, "node", "-importcert", "-noprompt", given=signed)
    return {"keystore": str(keys), "keystore_password": PASSWORD, "certificate": str(certificate)}


def _keytool(store, alias, command, *options, given=b""):
    """What keytool prints when it does that with an entry of a key store."""
    tool = jars.java().with_name("keytool")
    words = [str(tool), command, "-keystore", str(store), "-storetype", "PKCS12", "-storepass", PASSWORD]
    answer = subprocess.run([*words, "-alias", alias, *options], input=given, capture_output=True, check=False)
    if answer.returncode != 0:
        said = (answer.stdout + answer.stderr).decode(errors="replace").strip()
        raise jars.Trouble(f"keytool {command} fails: {said}")
    return answer.stdout
