"""Every text that the reasoning layer puts before a model. Recordings hang on these words: a change needs a new recording."""

SECTION = """

RACIOCÍNIO PASSO A PASSO:
{lead}

Quando usar:
- problemas ou cálculos matemáticos
- raciocínio lógico em várias etapas
- análise de código, depuração ou decisões de arquitetura
- qualquer tarefa em que pensar com cuidado melhora o resultado

Como usar:
1. Enuncie o problema com clareza
2. Divida o raciocínio em etapas, cada uma apoiada na anterior
3. Chegue a uma conclusão
4. Só então aja ou responda

Perguntas simples não precisam disso. Responda no idioma da pergunta."""

MAY_USE_TOOL = "Para tarefas complexas, você pode usar a ferramenta `think_step_by_step` antes de agir."

MUST_USE_TOOL = (
    "Antes de qualquer tarefa complexa, você deve usar a ferramenta `think_step_by_step`, com pelo menos 3 etapas."
)

MAY_THINK = "Para tarefas complexas, você pode raciocinar por escrito, passo a passo, antes de agir."

MUST_THINK = (
    "Antes de qualquer tarefa complexa, você deve raciocinar por escrito, passo a passo, com pelo menos 3 etapas."
)

THOUGHT = """\
Raciocínio concluído.

Problema: {problem}

Etapas:
{steps}

Conclusão: {conclusion}

Agora você pode agir com base neste raciocínio."""

NO_STEPS = "reasoning_steps precisa de pelo menos 1 etapa que não esteja em branco"

ENABLED = "Raciocínio profundo ativado, com orçamento de {used} tokens."

CLAMPED = " Foram pedidos {asked}; o permitido aqui é {used}."

ADAPTIVE = " O modelo {model} dosa o raciocínio por conta própria, sem orçamento."

NO_ROOM = " As respostas são curtas demais para um orçamento: enquanto for assim, {model} não raciocina."

FALLBACK = (
    " O modelo {model} não tem raciocínio nativo: raciocine passo a passo, por escrito ou com a ferramenta oferecida."
)

DISABLED = "Raciocínio profundo desativado."

LOW_EFFORT = (
    "O modelo {model} sempre raciocina e não pode ser desligado: passa a usar o menor esforço possível, `{effort}`."
)

BETWEEN_TOOLS = (
    "O modelo {model} não pode ser desligado por completo: passa a raciocinar só entre chamadas de ferramentas."
)

FROM_NEXT_TURN = " Vale a partir da próxima pergunta do usuário; até lá nada muda."
