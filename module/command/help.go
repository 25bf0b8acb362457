package command

// help is the text of caddy help ai-gateway.
const help = `
Starts a gateway for language models without a configuration file, and prints its
address and a key. It is meant for trying the gateway and for local work: it serves
plain HTTP.

The environment selects the providers:

    ANTHROPIC_API_KEY   models named claude-*
    OPENAI_API_KEY      models named gpt-*, o3* and so on
    OLLAMA_HOST         the models of an Ollama server

A single provider serves every model name. The provider "demo" needs no account. It
answers with deterministic text in every format, for the model name "demo", or for
every name if there is no other provider.

Clients need a key: the printed one, which changes with every start unless it is set
in GATEWAY_KEY, or one that a user has created. Users are stored in Caddy's data
directory. The first start creates the user root, and prints its random password.

The subcommands user, team and key manage users, teams and keys: those of the gateway
that runs, if the admin API of Caddy answers at its usual address or at another one
(--address); otherwise those of the default store, or of the store of a configuration
(--config). They print which store that is. The subcommand usage shows the requests,
tokens and costs in the ledger of the store. The subcommands targets and explain show
where a running gateway sends requests, the subcommand limits shows what is used and
left of its limits, and the subcommand doctor tests its models. The subcommand models
shows what is known of models: what they take, what they cost, and when they end. The
subcommands backup and restore copy users, keys and usage to a folder, and back. The
subcommand docs shows the pages of this version. The subcommands login, token and
logout sign this machine in at a gateway, for programs that run a command to get a key.

With --print, the command prints a Caddyfile with the same providers and key. You can
start your own configuration from it.`
