"""Chain verdicts, keys and signatures (`SEA-1` to `SEA-10`)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from agentl.errors import SealError
from agentl.replay import Journal
from agentl.seal import (
    SecretKey,
    chain_hashes,
    chain_head,
    generate_ed25519,
    load_chain_key,
    load_signing_key,
    load_verify_key,
    verify_chain,
)


def sealed(key: Any = None) -> Journal:
    journal = Journal(meta={"agent": "a"})
    journal.record("read", "p", value=1)
    journal.record("read", "q", value="é")
    journal.seal("trace", key=key)
    return journal


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTL_JOURNAL_KEY", raising=False)


def test_chain_verdicts() -> None:
    """SEA-2, SEA-3: intact, no head, no digest, wrong digest, another head."""
    raw = sealed().to_json()
    assert verify_chain(raw).ok
    assert raw["meta"]["chain_sha256"] == chain_head(raw["entries"]) == chain_hashes(raw["entries"])[-1]
    assert chain_head([]) == Journal().head
    bad = sealed().to_json()
    bad["entries"][1]["value"] = 2
    assert (verify_chain(bad).reason, verify_chain(bad).first_bad) == ("seal.bad_digest", 1)
    assert "#1" in str(verify_chain(bad))
    del bad["entries"][0]["h"]
    assert (verify_chain(bad).reason, verify_chain(bad).first_bad) == ("seal.no_digest", 0)
    cut = sealed().to_json()
    del cut["entries"][1]
    assert verify_chain(cut).reason == "seal.other_head"
    del cut["meta"]["chain_sha256"]
    assert verify_chain(cut).reason == "seal.no_head"
    keyed = sealed().to_json()["entries"]
    for entry, digest in zip(keyed, chain_hashes(keyed, key=b"k"), strict=True):
        entry["h"] = digest
    assert verify_chain(keyed, key=b"k").ok
    assert not verify_chain(keyed).ok


def test_the_sealed_head_is_frozen() -> None:
    """SEA-4: what is added afterwards shows."""
    journal = sealed()
    journal.record("read", "r", value=1)
    assert journal.chain_report.reason == "seal.other_head"


def test_a_secret_signs_and_verifies() -> None:
    """SEA-5, SEA-8: valid, another key, no key, meta changed, unsigned, unreadable."""
    key = SecretKey(b"secret")
    journal = Journal.loads(sealed(key).dumps())
    assert journal.signed
    assert journal.verify_seal(key).ok
    assert journal.meta["signature"]["alg"] == "HMAC-SHA256"
    assert len(journal.meta["signature"]["key_id"]) == 16
    assert journal.verify_seal(SecretKey(b"other")).code == "seal.other_key"
    missing = journal.verify_seal()
    assert missing.code == "seal.no_verify_key"
    assert "--key" in str(missing)
    assert "AGENTL_JOURNAL_KEY" in str(missing)
    for name in ("agent", "trace_sha256", "chain_sha256"):
        changed = Journal.loads(sealed(key).dumps())
        changed.meta[name] = "other"
        assert changed.verify_seal(key).code == "seal.invalid"
    assert sealed().verify_seal(key).code == "seal.unsigned"
    for block in ("x", {}, {"alg": "none", "key_id": "a", "value": "b"}, {"alg": "Ed25519", "key_id": 1}):
        changed.meta["signature"] = block
        assert changed.verify_seal(key).code == "seal.unreadable"


def test_a_valid_signature_over_a_broken_chain() -> None:
    """SEA-9: the entries were changed after signing: both verdicts say their part."""
    key = SecretKey(b"secret")
    text = sealed(key).dumps().replace('"value": 1', '"value": 2')
    journal = Journal.loads(text, strict=False)
    assert journal.verify_seal(key).ok
    assert not journal.chain_report.ok


def test_ed25519(tmp_path: Path) -> None:
    """SEA-5, SEA-6, SEA-7: generated, private signs, public verifies and refuses to sign."""
    pytest.importorskip("cryptography")
    private, public = generate_ed25519(tmp_path, "k")
    assert (private.name, public.name) == ("k.key", "k.pub")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        generate_ed25519(tmp_path, "k")
    journal = Journal.loads(sealed(load_signing_key(str(private))).dumps())
    assert journal.meta["signature"]["alg"] == "Ed25519"
    verifier = load_verify_key(str(public))
    assert journal.verify_seal(verifier).ok
    assert journal.verify_seal(SecretKey(b"x")).code == "seal.other_key"
    journal.meta["agent"] = "b"
    assert journal.verify_seal(verifier).code == "seal.invalid"
    for refused in (lambda: load_signing_key(str(public)), lambda: load_chain_key(str(public))):
        with pytest.raises(SealError):
            refused()
    assert load_chain_key(str(private)) == private.read_bytes()


def test_where_a_key_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SEA-6, SEA-10: a file's bytes, a path that is missing, a literal, the environment, nothing."""
    (tmp_path / "s.secret").write_bytes(b"bytes")
    assert load_chain_key(str(tmp_path / "s.secret")) == b"bytes"
    assert load_chain_key("a literal") == b"a literal"
    assert load_chain_key() is None
    assert load_signing_key() is None
    for spec in ("x.key", "x.pem", "x.pub", "x.secret", "a/b", "a\\b"):
        for load in (load_chain_key, load_signing_key, load_verify_key):
            with pytest.raises(SealError) as refused:
                load(spec)
            assert refused.value.code == "seal.key_missing"
    monkeypatch.setenv("AGENTL_JOURNAL_KEY", "from outside")
    assert load_chain_key() == b"from outside"
    key = load_signing_key()
    assert key is not None
    assert key.key_id == SecretKey(b"from outside").key_id
    with pytest.raises(SealError):
        load_chain_key("")


def test_a_broken_pem_is_a_clear_refusal(tmp_path: Path) -> None:
    """SEA-6."""
    pytest.importorskip("cryptography")
    path = tmp_path / "bad.key"
    path.write_text("-----BEGIN PRIVATE KEY-----\nxxxx\n-----END PRIVATE KEY-----\n")
    with pytest.raises(SealError) as refused:
        load_signing_key(str(path))
    assert refused.value.code == "seal.bad_key"
