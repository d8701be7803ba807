"""Wordings of record, replay and seal (codes `replay.` `seal.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # Replay (RPL-1 to RPL-7, CLI-13).
    "replay.kind": (
        "sorte de franchissement inconnue : {kind} ; voyez agentl.replay.KINDS",
        "unknown kind of crossing: {kind}; see agentl.replay.KINDS",
    ),
    "replay.format": (
        "format de journal inconnu : {format} (lus : {readable}) ; utilisez la version d'AGENT-L qui "
        "l'a écrit",
        "unknown journal format: {format} (readable: {readable}); use the AGENT-L version that wrote it",
    ),
    "replay.format_unsealed": (
        "un journal au format {format} n'a pas de chaîne : son intégrité ne peut pas être établie",
        "a journal of format {format} has no chain: that it is intact cannot be shown",
    ),
    "replay.altered": (
        "journal de rejeu altéré : {verdict} ; restaurez le journal d'origine",
        "replay journal altered: {verdict}; restore the original journal",
    ),
    "replay.malformed": (
        "{file} n'est pas un journal de rejeu ({cause}) ; vérifiez le chemin",
        "{file} is no replay journal ({cause}); check the path",
    ),
    "replay.durable_journal": (
        "{file} est le journal d'une exécution durable ; faites-en un journal de rejeu avec "
        "`agentl durable export {directory}`",
        "{file} is the journal of a durable run; make a replay journal of it with "
        "`agentl durable export {directory}`",
    ),
    "replay.unreadable": (
        "{file} : journal illisible ({cause}) ; vérifiez le chemin",
        "{file}: unreadable journal ({cause}); check the path",
    ),
    "replay.emit": (
        "un rejeu ne reçoit aucun événement nouveau ({source}) ; utilisez un hôte réel",
        "a replay takes no new event ({source}); use a real host",
    ),
    "replay.exhausted": (
        "rejeu divergent : le journal est épuisé ({recorded} franchissement(s)) et le programme "
        "demande {crossing} ; "
        "rejouez avec le programme enregistré",
        "replay diverged: the journal is exhausted ({recorded} crossings) and the program asks for "
        "{crossing}; "
        "replay with the recorded program",
    ),
    "replay.diverged": (
        "rejeu divergent au franchissement #{entry} : enregistré {recorded}, rejoué {derived} ; "
        "rejouez avec le programme enregistré",
        "replay diverged at crossing #{entry}: recorded {recorded}, replayed {derived}; "
        "replay with the recorded program",
    ),
    "replay.arguments": (
        "rejeu divergent au franchissement #{entry} ({crossing}) : arguments enregistrés {recorded}, rejoués "
        "{derived} ; rejouez avec le programme enregistré",
        "replay diverged at crossing #{entry} ({crossing}): recorded arguments {recorded}, replayed "
        "{derived}; "
        "replay with the recorded program",
    ),
    "replay.unsealed": (
        "journal non scellé : aucune empreinte de trace à comparer ; enregistrez avec agentl run --record",
        "unsealed journal: no trace digest to compare with; record with agentl run --record",
    ),
    "replay.program_changed": (
        "{file} n'est pas le programme enregistré ; donnez le bon avec --source, ou forcez avec --force",
        "{file} is not the recorded program; give the right one with --source, or use --force",
    ),
    "replay.ok": ("rejeu conforme, trace {digest}", "replay conforms, trace {digest}"),
    "replay.different": (
        "la trace rejouée n'est pas la trace enregistrée ; comparez le programme et la langue",
        "the replayed trace is not the recorded one; compare program and language",
    ),
    "replay.remaining": (
        "trace identique, mais {remaining} franchissement(s) n'ont pas été consommés",
        "identical trace, but {remaining} crossings were not consumed",
    ),
    # Chain (SEA-3).
    "seal.chain_ok": ("chaîne intacte, tête {head}", "chain intact, head {head}"),
    "seal.no_head": ("aucune tête de chaîne : journal non scellé", "no chain head: unsealed journal"),
    "seal.no_digest": ("une entrée n'a pas de condensat", "an entry has no digest"),
    "seal.bad_digest": ("un condensat est faux", "a digest is wrong"),
    "seal.other_head": (
        "la tête n'est pas celle du sceau : des entrées ont été ajoutées ou coupées",
        "the head is not the sealed one: entries were added or cut off",
    ),
    "seal.first_bad": ("première entrée en cause : #{entry}", "first entry concerned: #{entry}"),
    # Signature (SEA-8).
    "seal.signed": (
        "signature valide ({algorithm}, clé {key_id})",
        "valid signature ({algorithm}, key {key_id})",
    ),
    "seal.unsigned": ("journal non signé", "unsigned journal"),
    "seal.no_verify_key": (
        "journal signé ({algorithm}, clé {key_id}), sans clé pour vérifier : donnez --key ou "
        "AGENTL_JOURNAL_KEY",
        "signed journal ({algorithm}, key {key_id}), no key to verify it: give --key or AGENTL_JOURNAL_KEY",
    ),
    "seal.other_key": (
        "signé par la clé {signed_by}, vérifié avec {given} ; donnez la bonne clé",
        "signed by key {signed_by}, verified with {given}; give the right key",
    ),
    "seal.unreadable": ("signature illisible", "unreadable signature"),
    "seal.invalid": (
        "signature invalide ({algorithm}, clé {key_id}) : les métadonnées ont changé depuis la signature",
        "invalid signature ({algorithm}, key {key_id}): the meta changed since it was signed",
    ),
    # Keys (SEA-6, SEA-10).
    "seal.key_missing": (
        "clé introuvable ou illisible : {spec} ; vérifiez le chemin",
        "key not found or unreadable: {spec}; check the path",
    ),
    "seal.key_empty": (
        "la clé est vide ; donnez un secret ou un fichier",
        "the key is empty; give a secret or a file",
    ),
    "seal.public_key": (
        "{spec} est une clé publique : elle n'est pas un secret ; donnez la clé privée",
        "{spec} is a public key: it is no secret; give the private key",
    ),
    "seal.cannot_sign": (
        "la clé {key_id} est publique : elle vérifie mais ne signe pas ; donnez la clé privée",
        "key {key_id} is public: it verifies but does not sign; give the private key",
    ),
    "seal.no_cryptography": (
        "les clés Ed25519 demandent l'extra « sign » ; installez agentl[sign]",
        "Ed25519 keys need the extra “sign”; install agentl[sign]",
    ),
    "seal.bad_key": (
        "{spec} n'est pas une clé Ed25519 utilisable ; créez-en une avec agentl seal --keygen",
        "{spec} is no usable Ed25519 key; make one with agentl seal --keygen",
    ),
}
