"""Creates the authority and the nodes' certificate of a ring with TLS, with Java's keytool."""

import subprocess
from pathlib import Path

import jars

PASSWORD = "thriftstore"
DAYS = "30"


def make_certificates(folder, addresses):
    """Creates key store and authority in `folder`, and returns the settings of a ring with TLS."""
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
    """Runs a command of keytool on an entry of a key store, and returns what it prints."""
    tool = jars.java().with_name("keytool")
    words = [str(tool), command, "-keystore", str(store), "-storetype", "PKCS12", "-storepass", PASSWORD]
    answer = subprocess.run([*words, "-alias", alias, *options], input=given, capture_output=True, check=False)
    if answer.returncode != 0:
        output = (answer.stdout + answer.stderr).decode(errors="replace").strip()
        raise jars.RingError(f"keytool {command} fails: {output}")
    return answer.stdout
