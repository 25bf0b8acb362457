package fault

import (
	"regexp"
	"strings"
	"sync"
)

// Trouble with the gateway's account at a provider has another status with each service, often
// one that blames the request. It is known by the words of this file, so that it counts as 402
// or 401: another API key or target may answer, and no client repeats the request.

// exhaustedWords are types and codes for an account without credit.
var exhaustedWords = map[string]bool{
	"insufficient_quota": true, "billing_error": true, "billing_not_active": true, "billing_hard_limit_reached": true,
	"insufficient_user_quota": true, "usage_not_included": true, "insufficient_balance": true,
	"1113":                           true, // Z.ai
	"exceeded_current_quota_error":   true, // Moonshot
	"Arrearage":                      true, // Model Studio, with status 400
	"AllocationQuota.FreeTierOnly":   true, // Model Studio
	"AccountOverdueError":            true, // Volcengine
	"account_overdue":                true, // Qianfan
	"insufficient_funds":             true, // Vercel
	"pre_consume_token_quota_failed": true, // New API, with status 403
	"blocked_api_access":             true, // Groq, for a spending limit
	"budget_exceeded":                true, // LiteLLM, with status 400
	"CreditsError":                   true, // OpenCode Zen, with status 401
}

// refusedWords are types and codes for a credential that is not accepted.
var refusedWords = map[string]bool{
	"invalid_api_key":         true, // OpenAI
	"InvalidApiKey":           true, // Model Studio
	"authentication_error":    true, // Anthropic
	"account_deactivated":     true, // OpenAI
	"organization_restricted": true, // Groq, with status 400
}

// exhaustedSentences begin the messages of providers for an account without credit, over a limit
// of its spending, or not paid for.
var exhaustedSentences = beginnings(
	// Anthropic: Your credit balance is too low; DeepSeek, MiniMax, Zhipu: Insufficient balance; OpenRouter: Insufficient credits
	`your credit balance is too low`,
	`(?:insufficient|not enough|out of) (?:account |user |available |remaining )?(?:balance|credits?|funds|quota)\b`,
	// SiliconFlow: Sorry, your account balance is insufficient; xAI: Your newly created team doesn't have any credits; You have run out of credits
	`(?:sorry, )?your (?:account )?balance is (?:insufficient|not enough|too low)`,
	`(?:you|your (?:newly created )?(?:account|team|organization|project|key)s?)(?: \S{1,80})? `+
		`(?:have|has|do not|does not|don't|doesn't|are|is)[a-z ]{0,12} (?:any|no|enough|insufficient|out of) (?:available |remaining )?(?:credits?|balance|funds)\b`,
	// xAI: Your team x has either used all available credits or reached its monthly spending limit
	`your team (?:\S{1,80} )?has (?:either )?used all available credits`,
	// Hugging Face: You have exceeded your monthly included credits
	`you(?: have|'ve) (?:used all(?: of)? your|(?:exceeded|depleted) your monthly included) credits`,
	// OpenRouter: This request requires more credits, or fewer max_tokens; Key limit exceeded (total limit); Together: Credit limit exceeded
	`this request requires more credits`, `more credits are required`, `key limit exceeded \(`, `credit limit exceeded`,
	// Anthropic: You have reached your specified API usage limits. You will regain access on 2026-07-01; Kimi
	`you(?: have|'ve) reached your (?:specified (?:\w+ )?api usage limits|usage limit for this billing cycle)`,
	// Google, Groq: Your project has exceeded its monthly spending cap; LiteLLM: Budget has been exceeded! Current cost: 2, Max budget: 1
	`(?:you(?: have|'ve)|your \w+ has) (?:reached|exceeded|hit) (?:your|its|the) [\w ]{0,20}(?:spend|spending|billing) (?:limit|cap)\b`,
	`budget has been exceeded`,
	// Fireworks: Account x is suspended, possibly due to reaching the monthly spending limit; Moonshot: suspended due to insufficient balance
	`(?:your )?account (?:\S{1,100} ){0,3}(?:is|has been|was) suspended\b.{0,60}(?:balance|spending|invoice|payment|billing)`,
	// Volcengine: The request failed because your account has an overdue balance; Model Studio
	`(?:the request failed because )?your account (?:has an overdue balance|is overdue|is in arrears)`,
	`access denied, please make sure your account is in good standing`,
	// OpenAI
	`your account is not active, please check your billing`, `billing hard limit has been reached`,
	// Google: This API method requires billing to be enabled; Gemini API free tier is not available in your country
	`your prepayment credits are depleted`, `this api method requires billing`, `gemini api free tier is not available`,
	// Bedrock; DeepInfra; Cohere: You are using a Trial key, which is limited to 1000 API calls / month
	`model access is denied due to invalid_payment_instrument`, `inference prohibited`,
	`you are using a trial key, which is limited to [\d,]+ api calls / month`,
	// New API: token quota is not enough; One API: user [1] quota [0]preConsumedQuota [2]is not enough
	`(?:user|token) quota is not enough`, `user \[\d+\] quota \[-?\d+\] ?preconsumedquota`, `预扣费额度失败`,
	// Zhipu: 余额不足或无可用资源包; New API: 该令牌额度已用尽; Tencent, Qianfan: 账户已欠费
	`(?:抱歉|，|该|您|你|的|当前|用户|账户|账号|帐户|令牌|可用)*(?:(?:余额|额度)(?:不足|已用尽|已用完|已耗尽)|已?欠费)`,
)

// refusedSentences begin the messages of providers for a key that is not accepted, and for an
// account that is disabled.
var refusedSentences = beginnings(
	// OpenAI, xAI with status 400: Incorrect API key provided; MiniMax: invalid api key; Google: API key not valid; API key expired
	`incorrect api key provided`, `(?:invalid|expired) (?:x-)?api[ -]key\b`,
	`(?:your |the |this )?api key (?:is |has |has been )?(?:not valid|invalid|expired)\b`,
	// Anthropic: This organization has been disabled; Groq: Organization has been restricted
	`(?:this |your )?(?:organization|account|workspace|team|project)(?: \S{1,80})? (?:has been|is|was) `+
		`(?:disabled|suspended|deactivated|restricted|banned|terminated)(?:[.,:;!(]|$| due | because | after | and )`,
	// Google: Permission denied: Consumer 'x' has been suspended
	`(?:permission denied: )?consumer \S{1,80} has been suspended`,
)

// leads precede the sentences in the errors of servers that relay them: "Error from provider: ",
// "Error code: 402 - ", "litellm.BadRequestError: DeepseekException - ". A lead never has a word of a
// request, such as the name of a model: the sentence could be quoted from it.
const leads = `(?:(?:\[?\d{3}\]?|(?:upstream |api |provider returned )?[\w.]*(?:error|exception)(?: code| from [\w.-]{1,40})?)(?: ?[:-] ?| ))*["']?`

// beginnings compiles sentences when the first error is read.
func beginnings(sentences ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^` + leads + `(?:` + strings.Join(sentences, "|") + `)`)
	})
}

// isSentence reports whether the message begins with a sentence. A message that states a time to
// wait is about a rate, whatever else it states.
func (d detail) isSentence(sentences func() *regexp.Regexp) bool {
	return d.message != "" && sentences().MatchString(d.message) && d.retryAfter() == 0
}

// exhausted reports whether the account has no credit, whatever the status.
func (d detail) exhausted() bool {
	return exhaustedWords[d.code] || exhaustedWords[d.kind] || d.rpc.usedUp || d.rpc.reason == unpaid || d.isSentence(exhaustedSentences)
}

// creditLeft matches the credit that is left, above 0, in messages that refuse a request for its size.
var creditLeft = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:` + strings.Join([]string{
		`can only afford`,       // OpenRouter: You requested up to 65536 tokens, but can only afford 3919
		`remain quota:`,         // New API: token quota is not enough, token remain quota: 1, need quota: 2
		`user \[\d+\] quota \[`, // One API: user [1] quota [5]preConsumedQuota [743]is not enough
		`(?:剩余|剩餘)额度[:：]`,       // New API: 预扣费额度失败, 用户剩余额度: ＄0.02
	}, "|") + `)[^\d-]{0,3}(?:0[.,]?0*)?[1-9]`)
})

// leavesCredit reports whether an account without enough credit for a request has some for smaller ones.
func (d detail) leavesCredit() bool { return creditLeft().MatchString(d.message) }

// unauthenticated reports whether the provider did not accept the credential, whatever
// the status.
func (d detail) unauthenticated() bool {
	return refusedWords[d.code] || refusedWords[d.kind] || refusedKeys[d.rpc.reason] || d.isSentence(refusedSentences)
}

// account returns the status for trouble with the gateway's account, for which some
// providers use another status; 0 for other errors.
func (d detail) account() int {
	switch {
	case d.exhausted():
		return 402
	case d.unauthenticated():
		return 401
	}
	return 0
}
