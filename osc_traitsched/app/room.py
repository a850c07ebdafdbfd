"""Moves of running servers that make room for a request."""

from __future__ import annotations

import dataclasses

from osc_traitsched.app import drain
from osc_traitsched.app.gc_pause import gc_paused
from osc_traitsched.cloud import allocation_candidates
from osc_traitsched.cloud.service import Cloud
from osc_traitsched.core.inventory.snapshot import Compute
from osc_traitsched.core.judge.capacity import suited
from osc_traitsched.core.judge.explanation import Explanation
from osc_traitsched.core.servers import room
from osc_traitsched.core.servers.room import RoomPlan, Tenant


@gc_paused()
def with_moves(cloud: Cloud, explanation: Explanation) -> Explanation:
    """The explanation with moves that make room, if its hosts are full.

    :raises ExtraSpecsHidden: if Nova hides extra specs
    """
    judgement = explanation.judgement
    facts = judgement.facts
    if facts is None or judgement.ended_by is not None or judgement.has_room:
        return explanation
    suitable = frozenset(suited(judgement))
    hosts = [host for host in judgement.hosts if host.uuid in suitable]
    facts = allocation_candidates.with_figures(cloud.placement, facts, hosts)
    judgement = dataclasses.replace(judgement, facts=facts)
    near = room.nearest(judgement)
    if not near:
        return dataclasses.replace(explanation, make_room=RoomPlan(()))
    nodes: dict[str, list[Compute]] = {}
    for host in near:
        node = judgement.computes[host.uuid]
        nodes.setdefault(node.service_host, []).append(node)
    moves, state = drain.able_to_move(cloud, nodes, judgement.question.assumptions)
    trees = facts.snapshot.host_trees
    allocated = allocation_candidates.allocated(
        cloud.placement, [uuid for host in near for uuid in trees[host.uuid]]
    )
    roots = {judgement.computes[host.uuid].node: host.uuid for host in near}
    tenants = [
        Tenant(move, move.move_request, roots[move.state.node], tuple(frees))
        for move in moves
        if move.move_request is not None and move.state.node in roots
        if (frees := allocated.get(move.state.id))
    ]
    plan = room.plan(judgement, tenants, state)
    return dataclasses.replace(explanation, make_room=plan)
