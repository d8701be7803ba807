"""Wordings of tasks (codes `task.`)."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "task.no_evidence": (
        "l'entrée {entry} ({kind}) ne prouve rien : il faut une lecture, un résultat d'outil ou un verdict",
        "entry {entry} ({kind}) proves nothing: it takes a reading, a tool's result or a verdict",
    ),
    "task.no_program": (
        "le programme de cette exécution est introuvable ({source}) ; indiquez-le avec --program",
        "the program of this run cannot be found ({source}); name it with --program",
    ),
    "task.head": ("tâche {run_id} (agent {agent}) : {end}", "task {run_id} (agent {agent}): {end}"),
    "task.spent": (
        "ticks {ticks}/{limit}, {actions} action(s), {models} appel(s) au modèle",
        "ticks {ticks}/{limit}, {actions} action(s), {models} model call(s)",
    ),
    "task.inside": (
        "le journal s'arrête au milieu d'un tick : l'état est celui de cet instant",
        "the journal ends inside a tick: the state is that of this moment",
    ),
    "task.objectives": ("objectifs", "objectives"),
    "task.proven": ("prouvé", "proven"),
    "task.claimed": ("affirmé, non prouvé", "claimed, not proven"),
    "task.open": ("ouvert", "open"),
    "task.rests_on": ("repose sur : {sources}", "rests on: {sources}"),
    "task.verified": ("VERIFY « {words} » (tick {tick})", "VERIFY « {words} » (tick {tick})"),
    "task.confirmed": ("effets confirmés", "confirmed effects"),
    "task.unsettled": ("non réglé", "not settled"),
    "task.pending": (
        "{target} ({action_id}) : intention sans résultat, sera tranchée à la reprise",
        "{target} ({action_id}): an intent without result, to be settled by the resume",
    ),
    "task.in_doubt": (
        "{target} ({action_id}) : en doute, à trancher avec `agentl durable settle`",
        "{target} ({action_id}): in doubt, to be settled with `agentl durable settle`",
    ),
    "task.waiting": (
        "{target} attend une réponse ({request}, échéance {deadline}) : `agentl approvals`",
        "{target} waits for an answer ({request}, deadline {deadline}): `agentl approvals`",
    ),
    "task.failures": ("échecs par cause", "failures by cause"),
    "task.stop": ("s'arrête quand : {condition}", "stops when: {condition}"),
    "task.entry": ("{kind}, entrée {entry}", "{kind}, entry {entry}"),
    "task.kind_reading": ("lecture", "reading"),
    "task.kind_result": ("résultat", "result"),
    "task.kind_reconciled": ("réconcilié", "reconciled"),
    "task.kind_verdict": ("verdict", "verdict"),
    "task.end_goal_reached": ("objectifs atteints", "goal reached"),
    "task.end_stopped_by_condition": (
        "arrêtée par sa condition, sans que chaque objectif soit prouvé",
        "stopped by its condition, not every objective being proven",
    ),
    "task.end_budget_exhausted": ("budget de ticks épuisé", "budget of ticks exhausted"),
    "task.end_in_doubt": ("une action est en doute", "an action is in doubt"),
    "task.end_failed": ("la dernière reprise a été refusée", "the last resume was refused"),
    "task.end_interrupted": ("interrompue, à reprendre", "interrupted, to be resumed"),
    "task.end_cancelled": ("annulée", "cancelled"),
    "task.end_running": ("en cours", "running"),
    "task.end_new": ("pas encore commencée", "not begun"),
    "task.end_waiting_approval": ("attend un accord", "waits for an approval"),
    "task.end_waiting_input": ("attend une réponse", "waits for an answer"),
    "task.cause_denied": ("accord refusé", "approval denied"),
    "task.cause_events": ("événements", "events"),
    "task.cause_expired": ("accord expiré", "approval expired"),
    "task.cause_failed": ("échec", "failure"),
    "task.cause_invalid_arguments": ("arguments invalides", "invalid arguments"),
    "task.cause_model": ("modèle", "model"),
    "task.cause_not_executed": ("non exécuté", "not executed"),
    "task.cause_permission_refused": ("permission refusée", "permission refused"),
    "task.cause_person": ("personne interrogée", "person asked"),
    "task.cause_refused_by_policy": ("refusé par la politique", "refused by the policy"),
    "task.cause_sensor": ("capteur", "sensor"),
    "task.cause_unconfirmed": ("non confirmé", "unconfirmed"),
}
