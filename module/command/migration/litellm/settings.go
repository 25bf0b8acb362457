package litellm

import (
	"cmp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// settings adds the words that come of the settings.
func (s *source) settings(router, settings, general *migration.Section) {
	global := func(words ...string) { s.gateway.Global = append(s.gateway.Global, migration.Words(words...)) }
	global("store", "sqlite")
	if host := router.Text("redis_host"); host != "" {
		s.redis(router, host)
	}
	if n, ok := router.Number("num_retries"); ok && n == 0 {
		global("retry", "off")
	} else if ok {
		s.report.Add(migration.Changed, router.Within("num_retries"), "each target is tried once, and the last one a second time if its failure cost nothing")
	}
	if n, ok := router.Number("cooldown_time"); ok && n > 0 {
		global("cooldown", migration.Decimal(n)+"s")
	}
	if router.Flag("disable_cooldowns") {
		global("cooldown", "off")
	}
	if n, ok := settings.Number("request_timeout"); ok && n > 0 {
		global("response_header_timeout", migration.Decimal(n)+"s")
	}
	if settings.Values["drop_params"] != true {
		settings.Take("drop_params")
		s.report.Add(migration.Changed, settings.Within("drop_params"), "fields that a provider does not know are left out and reported; on_loss reject refuses them")
	} else {
		settings.Take("drop_params")
	}
	if n, ok := general.Number("max_request_size_mb"); ok && n > 0 {
		global("max_body", migration.Decimal(n)+"MiB")
	}
	if n, ok := general.Number("global_max_parallel_requests"); ok && n > 0 {
		global("max_running", migration.Decimal(n))
	}
	s.budgets(settings)
	if master := general.Text("master_key"); master != "" {
		reference, isVariable := strings.CutPrefix(master, environ)
		if !isVariable {
			reference = "LITELLM_MASTER_KEY"
			s.report.Add(migration.Changed, general.Within("master_key"), "a secret in clear text: set it as the variable %s", reference)
		}
		s.gateway.SiteWords = append(s.gateway.SiteWords, migration.Line{
			Comment: "The master key: it may use every model, and manages nothing. Remove it when no client sends it.",
			Words:   []string{"key", "litellm-master"}, References: []migration.Reference{migration.Env(reference)},
		})
	}
	if general.Take("database_url") != nil {
		s.report.Add(migration.Changed, general.Within("database_url"), "the gateway has a database of its own; keys are imported with --database")
	}
}

// redis adds the counters that several gateways share.
func (s *source) redis(router *migration.Section, host string) {
	if strings.HasPrefix(host, environ) {
		s.report.Add(migration.Lost, router.Within("redis_host"), "counters redis needs the address as text: write it by hand")
		router.Take("redis_port")
		router.Take("redis_password")
		return
	}
	line := migration.Words("counters", "redis", host+":"+cmp.Or(router.Text("redis_port"), "6379"))
	if password := router.Text("redis_password"); password != "" {
		variable, isVariable := strings.CutPrefix(password, environ)
		if !isVariable {
			variable = "REDIS_PASSWORD"
			s.report.Add(migration.Changed, router.Within("redis_password"), "a secret in clear text: set it as the variable %s", variable)
		}
		line.Block = append(line.Block, migration.Line{Words: []string{"password"}, References: []migration.Reference{migration.Env(variable)}})
	}
	s.gateway.Global = append(s.gateway.Global, line)
}

// budgets adds the budget of all keys, and that of each user.
func (s *source) budgets(settings *migration.Section) {
	for _, budget := range [...]struct{ amount, duration, name, period string }{
		{"max_budget", "budget_duration", "everything", "gateway"},
		{"max_internal_user_budget", "internal_user_budget_duration", "users", "user"},
	} {
		amount, ok := settings.Number(budget.amount)
		duration := settings.Text(budget.duration)
		text, possible, none := migration.Budget(amount)
		if !ok || none || !possible {
			continue
		}
		p, note := period(duration)
		if note != "" {
			s.report.Add(migration.Changed, settings.Within(budget.duration), "%s", note)
		}
		s.gateway.Limits = append(s.gateway.Limits, migration.Limit{Name: budget.name, Lines: []migration.Line{
			migration.Words("per", budget.period), migration.Words("budget", text+"/"+p),
		}})
		if budget.period == "user" {
			s.gateway.Global = append(s.gateway.Global, migration.Line{Words: []string{"accounts"}, Block: []migration.Line{migration.Words("limit", budget.name)}})
		}
	}
}

// period returns the period of a budget, and a note if it begins at another time than in
// LiteLLM.
func period(duration string) (p, note string) {
	switch duration {
	case "", "none", "null":
		return "total", ""
	case "1d", "24h":
		return "day", ""
	case "7d", "1w":
		return "week", ""
	case "30d", "1mo":
		return "month", ""
	}
	if strings.HasSuffix(duration, "mo") {
		return "total", "a budget of " + duration + " never begins anew in LiteLLM, and so here"
	}
	if _, err := aigateway.ParseBudget("1/" + duration); err != nil {
		return "total", "the period is none that the gateway has: the budget is for all time"
	}
	return duration, "the budget holds for any " + duration + ", and not for fixed windows"
}

// protections reports what protected the requests and has no counterpart.
func (s *source) protections(general *migration.Section) {
	for _, g := range s.file.List("guardrails") {
		s.report.Add(migration.Unsafe, g.Place, "the guardrail %s is not imported: write a guard, regex for patterns or webhook for a service that decides (page on guards)", g.Text("guardrail_name"))
	}
	if general.Take("allowed_ips") != nil {
		s.report.Add(migration.Unsafe, general.Within("allowed_ips"), "every address may use the gateway: see Caddy's matcher remote_ip, or from in the keys")
	}
}

// reasons are the reasons why members have no counterpart, by the paths at which they are reported.
var reasons = map[string]string{
	"router_settings.enable_pre_call_checks":               "a request that is too long for a model is refused by its provider",
	"router_settings.allowed_fails":                        "a target rests after five failures in 10 s, or by its share of failures",
	"router_settings.allowed_fails_policy":                 "a target rests after five failures in 10 s, or by its share of failures",
	"router_settings.retry_policy":                         "each target is tried once, and the last one a second time if its failure cost nothing",
	"litellm_settings.callbacks":                           "see the pages on metrics, traces and logs",
	"litellm_settings.success_callback":                    "see the pages on metrics, traces and logs",
	"litellm_settings.failure_callback":                    "see the pages on metrics, traces and logs",
	"litellm_settings.cache":                               "add cache to the models whose answers are to be kept",
	"litellm_settings.cache_params":                        "add cache to the models whose answers are to be kept",
	"litellm_settings.timezone":                            "see zone of the ledger",
	"general_settings.pass_through_endpoints":              "see Caddy's reverse_proxy in a handle block",
	"general_settings.maximum_spend_logs_retention_period": "see records of the ledger",
	"general_settings.store_model_in_db":                   "models of the database are not read",
	"environment_variables":                                "set them in the environment of the service",
}

// reasonFor returns why a member of the file has no counterpart.
func reasonFor(place string) string {
	return cmp.Or(reasons[place], "it has no counterpart, or this import does not know it")
}
