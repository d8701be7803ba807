"""Wordings of operations on many runs (codes `ops.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # Why a run is not driven where it lies (OPS-6).
    "ops.purged": (
        "l'exécution {run_id} a été purgée le {at} ({name}) ; choisissez un autre identifiant",
        "run {run_id} was purged at {at} ({name}); choose another id",
    ),
    "ops.moved": (
        "l'exécution {run_id} a quitté {name} le {at} pour {other} ; continuez-la là-bas",
        "run {run_id} left {name} at {at} for {other}; go on with it there",
    ),
    "ops.arriving": (
        "l'exécution {run_id} n'est pas encore arrivée dans {name} ; relancez agentl durable import "
        "depuis {other}",
        "run {run_id} has not arrived in {name} yet; repeat agentl durable import from {other}",
    ),
    "ops.copy": (
        "{name} est une copie de {run_id} pour lecture seule ; reprenez l'original ({other})",
        "{name} is a copy of {run_id} for reading only; resume the original ({other})",
    ),
    "ops.marked": (
        "l'exécution {run_id} porte dans {name} une marque illisible et n'est pas pilotée ; "
        "vérifiez ce stockage",
        "run {run_id} has a mark in {name} that cannot be read, and is not driven; check that store",
    ),
    "ops.not_marked": (
        "{name} n'a pas de marque et ne se supprime pas ainsi ; utilisez agentl durable purge",
        "{name} has no mark and is not removed like this; use agentl durable purge",
    ),
    # Moving and copying (OPS-8, OPS-9).
    "ops.occupied": (
        "{name} contient déjà une exécution ; choisissez une autre destination",
        "{name} already holds a run; choose another target",
    ),
    "ops.not_arriving": (
        "{name} n'attend pas cette exécution ; voyez agentl durable verify aux deux endroits",
        "{name} does not expect this run; see agentl durable verify in both places",
    ),
    "ops.arrived_otherwise": (
        "ce qui est arrivé dans {name} n'est pas le journal envoyé ; vérifiez ce stockage et recommencez",
        "what arrived in {name} is not the journal that was sent; check that store and try again",
    ),
    "ops.move_unsure": (
        "un ancien pilote de {run_id} est peut-être encore dans un appel ; arrêtez-le, puis recommencez",
        "an old driver of {run_id} may still be inside a call; stop it, then try again",
    ),
    "ops.same_place": (
        "l'exécution est déjà dans {name} ; choisissez une autre destination",
        "the run is already in {name}; choose another target",
    ),
    "ops.not_portable": (
        "{file} n'est pas un fichier d'exécution portable ; faites-en un avec "
        "agentl durable export --portable",
        "{file} is no portable file of a run; make one with agentl durable export --portable",
    ),
    "ops.portable_cut": (
        "{file} est incomplet ; exportez l'exécution de nouveau",
        "{file} is not complete; export the run again",
    ),
    "ops.portable_is_a_copy": (
        "{file} est un fichier : il peut être importé plusieurs fois, donc seulement pour lecture ; ajoutez "
        "--copy, ou importez depuis l'adresse d'origine",
        "{file} is a file: it can be imported many times, so only for reading; add --copy, or import from "
        "the address it came from",
    ),
    "ops.portable": (
        "{file} : {entries} entrées, pour agentl durable import --copy",
        "{file}: {entries} entries, for agentl durable import --copy",
    ),
    "ops.moved_run": (
        "{run_id} ({entries} entrées) : {source} est quittée, elle continue dans {target}",
        "{run_id} ({entries} entries): it has left {source} and goes on in {target}",
    ),
    "ops.copied": (
        "{run_id} ({entries} entrées) : copie de {source} dans {target}, pour lecture seule",
        "{run_id} ({entries} entries): copied from {source} to {target}, for reading only",
    ),
    # Purging (OPS-7).
    "ops.span": (
        "durée illisible : {given} ; écrivez par exemple 30d, 12h, 90min ou 0s",
        "not a time span: {given}; write 30d, 12h, 90min or 0s, for instance",
    ),
    "ops.would_purge": (
        "{address} serait purgée (fin : {ended_at})",
        "{address} would be purged (end: {ended_at})",
    ),
    "ops.purged_run": ("{address} purgée (fin : {ended_at})", "{address} purged (end: {ended_at})"),
    "ops.purge_total": (
        "{count} purgée(s), {kept} gardée(s) ({reasons})",
        "{count} purged, {kept} kept ({reasons})",
    ),
    "ops.kept_active": ("pas terminée", "not ended"),
    "ops.kept_young": ("trop récente", "too young"),
    "ops.kept_undated": ("fin non datée", "end without a date"),
    "ops.kept_doubts": ("doute non tranché", "doubt not settled"),
    "ops.kept_waiting": ("attend quelqu'un", "waits for somebody"),
    "ops.kept_refused": ("journal refusé", "journal refused"),
    "ops.kept_held": ("pilotée", "driven"),
    # Verdicts (OPS-10).
    "ops.chain_good": (
        "chaîne : {entries} entrées, tête {head}",
        "chain: {entries} entries, head {head}",
    ),
    "ops.chain_empty": ("chaîne : aucun journal", "chain: no journal"),
    "ops.key_good": ("clé : {key_id}", "key: {key_id}"),
    "ops.key_none": (
        "clé : aucune ; la chaîne montre un dommage, pas un faussaire",
        "key: none; the chain shows damage, not a forger",
    ),
    "ops.lease_free": ("bail : libre", "lease: free"),
    "ops.lease_held": (
        "bail : {epoch}, à {holder} depuis {since}",
        "lease: {epoch}, held by {holder} since {since}",
    ),
    "ops.lease_behind": (
        "bail : {epoch}, à {holder} depuis {since}, alors que le journal connaît déjà {latest} ; "
        "arrêtez ce processus",
        "lease: {epoch}, held by {holder} since {since}, though the journal knows {latest} already; "
        "stop that process",
    ),
    "ops.notes_none": ("notes : aucune ; elles seront refaites", "notes: none; they will be made again"),
    "ops.notes_good": ("notes : conformes au journal", "notes: as the journal says"),
    "ops.notes_other": (
        "notes : autres que le journal, qui fait foi ; vérifiez qui écrit dans ce stockage",
        "notes: not what the journal says, which counts; find out who writes into this store",
    ),
    "ops.notes_behind": (
        "notes : en retard de {count} entrées sur le journal, qui fait foi",
        "notes: {count} entries behind the journal, which counts",
    ),
    "ops.notes_ahead": (
        "notes : elles annoncent {count} entrées de plus ; une coupure de courant l'explique, une main aussi",
        "notes: they know {count} entries more; a power cut explains it, and so does a hand",
    ),
    "ops.end_good": ("fin : {reason}, {ticks} tick(s)", "end: {reason}, {ticks} ticks"),
    "ops.end_doubts": (
        "fin : {reason}, {ticks} tick(s), {doubts} action(s) indéterminée(s) à trancher",
        "end: {reason}, {ticks} ticks, {doubts} actions in doubt to settle",
    ),
    "ops.end_none": (
        "fin : pas encore ({status}, tick {tick}) ; une fin coupée ne se verrait pas",
        "end: not yet ({status}, tick {tick}); a tail that was cut off would not show",
    ),
    "ops.mark_purged": ("marque : purgée le {at}", "mark: purged at {at}"),
    "ops.mark_moved": ("marque : partie le {at} pour {other}", "mark: left at {at} for {other}"),
    "ops.mark_arriving": (
        "marque : pas encore arrivée ({at}, de {other})",
        "mark: not arrived yet ({at}, from {other})",
    ),
    "ops.mark_copy": ("marque : copie de {other} ({at})", "mark: a copy of {other} ({at})"),
    # A timeline (OPS-5).
    "ops.step_begun": (
        "début de {run_id} le {at}, bail {epoch}, {holder}",
        "begin of {run_id} at {at}, lease {epoch}, {holder}",
    ),
    "ops.step_driver": (
        "↻ reprise le {at}, bail {epoch}, {holder}",
        "↻ resumed at {at}, lease {epoch}, {holder}",
    ),
    "ops.step_tick": ("— tick {tick} ({counts})", "— tick {tick} ({counts})"),
    "ops.step_action": ("{target} ({action_id}) : {outcome}", "{target} ({action_id}): {outcome}"),
    "ops.attempts": (", {count} tentatives", ", {count} attempts"),
    "ops.outcome_done": ("fait", "done"),
    "ops.outcome_failed": ("échec ({error})", "failed ({error})"),
    "ops.outcome_in_doubt": ("indéterminée", "in doubt"),
    "ops.outcome_open": ("sans résultat", "without a result"),
    "ops.step_approval": (
        "? {target} ({action_id}) : {answer} par {by}, {at}",
        "? {target} ({action_id}): {answer} by {by}, {at}",
    ),
    "ops.step_verdict": (
        "! {target} ({action_id}) : verdict de {by}, {verdict}, {at}",
        "! {target} ({action_id}): verdict of {by}, {verdict}, {at}",
    ),
    "ops.step_reconciled": ("! {target} ({action_id}) : {answer}", "! {target} ({action_id}): {answer}"),
    "ops.reconciled_true": ("l'effet avait eu lieu", "the effect had taken place"),
    "ops.reconciled_false": ("l'effet n'avait pas eu lieu", "the effect had not taken place"),
    "ops.reconciled_unknown": ("la question est restée sans réponse", "the question got no answer"),
    "ops.step_cancelled": (
        "■ annulée par {by} le {at} ({reason})",
        "■ cancelled by {by} at {at} ({reason})",
    ),
    "ops.step_extended": (
        "→ prolongée à {max_ticks} ticks le {at}",
        "→ extended to {max_ticks} ticks at {at}",
    ),
    "ops.step_parked": (
        "◐ en attente depuis le {at} ({request_id}), jusqu'au {deadline}",
        "◐ waits since {at} ({request_id}), until {deadline}",
    ),
    "ops.step_ended": ("✓ fin : {reason}, {ticks} tick(s)", "✓ end: {reason}, {ticks} ticks"),
}
