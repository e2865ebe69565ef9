"""What the code itself tells the user, where no model writes the answer: in Portuguese and in English."""

from __future__ import annotations

import re
from typing import NamedTuple


class Wording(NamedTuple):
    """Sentences of one language; names in braces are filled in."""

    everything: str
    level: str
    irrelevant: str
    tagged: str
    about: str
    counted: str
    listed: str
    perhaps_more: str
    none_found: str
    sources: str
    changed: str
    unchanged: str
    done: str
    not_found: str
    failed: str
    uncertain: str
    one_at_a_time: str
    no_list: str
    allowed: str
    which: str
    reading_only: str
    not_now: str
    store_silent: str
    cannot: str


PORTUGUESE = Wording(
    everything="Notícias",
    level="Notícias {level}",
    irrelevant="Notícias irrelevantes (pela prioridade ou pela tag)",
    tagged=" com a tag {tag}",
    about=" que mencionam {words}",
    counted="{what} em {day}: **{n}**.",
    listed="{what} em {day}: {n}.",
    perhaps_more="Pode haver mais: a lista para em {n}.",
    none_found="{what} em {day}: nenhuma encontrada.",
    sources="Fontes",
    changed="A prioridade do cluster {id} mudou de {before} para **{after}**.",
    unchanged="O cluster {id} já tinha a prioridade **{after}**; nada foi alterado.",
    done="Feito: a alteração pedida foi registrada.",
    not_found="Não encontrei o cluster {id}; nada foi alterado.",
    failed="Não foi possível alterar o cluster {id}; nada foi alterado.",
    uncertain="A alteração do cluster {id} não foi confirmada. Confira a prioridade antes de pedir de novo.",
    one_at_a_time="Só altero uma notícia por pedido, então nada foi alterado. Envie um pedido para cada uma:\n\n{items}",
    no_list="Só altero uma notícia por pedido, então nada foi alterado. Diga o número de uma só.",
    allowed="Não reconheço a nova prioridade; nada foi alterado. Valores permitidos:\n\n{levels}",
    which="Falta o número do cluster; nada foi alterado.",
    reading_only="Esta consulta só lê (GET), então nada foi alterado. Envie o pedido de alteração por POST.",
    not_now="Não posso fazer alterações agora; nada foi alterado por este pedido.",
    store_silent="Não consegui consultar a base de notícias agora.",
    cannot="Não consigo responder a isso agora. Sei contar e listar notícias por prioridade, tag ou data, e mudar a "
    "prioridade de uma notícia por pedido.",
)

ENGLISH = Wording(
    everything="News items",
    level="{level} news items",
    irrelevant="Irrelevant news items (by priority or by tag)",
    tagged=" with the tag {tag}",
    about=" that mention {words}",
    counted="{what} on {day}: **{n}**.",
    listed="{what} on {day}: {n}.",
    perhaps_more="There may be more: the list stops at {n}.",
    none_found="{what} on {day}: none were found.",
    sources="Sources",
    changed="The priority of cluster {id} changed from {before} to **{after}**.",
    unchanged="Cluster {id} already had the priority **{after}**; nothing was changed.",
    done="Done: the change that you asked for was made.",
    not_found="I could not find cluster {id}; nothing was changed.",
    failed="Cluster {id} could not be changed; nothing was changed.",
    uncertain="The change of cluster {id} was not confirmed. Check its priority before you ask again.",
    one_at_a_time="I change one news item per request, so nothing was changed. Send one request for each:\n\n{items}",
    no_list="I change one news item per request, so nothing was changed. Name the number of a single one.",
    allowed="I do not recognise the new priority; nothing was changed. Allowed values:\n\n{levels}",
    which="The number of the cluster is missing; nothing was changed.",
    reading_only="This request only reads (GET), so nothing was changed. Send the change by POST.",
    not_now="I cannot make changes right now; nothing was changed by this request.",
    store_silent="I could not reach the news store right now.",
    cannot="I cannot answer that right now. I can count and list news items by priority, tag or date, and change the "
    "priority of one item per request.",
)


def escaped(text: str) -> str:
    """*text* from the store as plain text inside a line of Markdown."""
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", " ".join(text.split()))


def bullets(lines: list[str]) -> str:
    """*lines* as a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)
