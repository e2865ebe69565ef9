"""Which language a text is in."""

from __future__ import annotations

import pytest

from harness.contracts.language import language_of


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", "The weather in Berlin is rainy and the temperature is 7 degrees."),
        ("de", "Das Wetter in Berlin ist regnerisch und die Temperatur liegt bei 7 Grad."),
        ("pt", "A previsão para hoje é de chuva e não há notícias do projeto."),
        ("es", "El tiempo en Berlín es lluvioso y la temperatura es de 7 grados."),
        ("fr", "Le temps est pluvieux et la température est de 7 degrés dans la ville."),
        ("it", "Il tempo è piovoso e la temperatura è di 7 gradi nella città."),
        ("ru", "Погода в Берлине дождливая."),
        ("zh", "柏林今天下雨，气温为7度。"),
        ("ja", "ベルリンは雨です。"),
        ("en", "I feel happy today!"),
        ("en", "So good to hear!"),
        ("de", "Das freut mich sehr!"),
        ("de", "Heute bin ich glücklich."),
        ("de", "Schöne Grüße, und bis morgen!"),
        ("pt", "Fico feliz por você!"),
        ("pt", "Que bom! Hoje é um dia especial."),
        ("pt", "Estou triste hoje."),
        ("es", "¡Hoy estoy muy feliz!"),
        ("ru", "Как я рада за тебя! Чувство записано: Happy."),
        ("zh", "我今天很开心！"),
        ("zh", "我已经把 update_current_feeling 记录为 Happy 了，真为你高兴。"),
    ],
)
def test_languages(lang, text):
    """A sentence of each language is told by its script or its common words."""
    assert lang == language_of(text)


@pytest.mark.parametrize("text", ["", "391", "Berlin", "```python\nthe and is\n```", "OK"])
def test_cannot_tell(text):
    """Too little prose tells nothing."""
    assert language_of(text) is None
