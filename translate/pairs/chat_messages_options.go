package pairs

// refuseFields refuses what a messages provider could only ignore.
func (x *chatMessages) refuseFields() {
	r := &x.request
	if isTrue(r.Logprobs) {
		x.refuse("logprobs", "")
	}
	if raw := r.TopLogprobs; raw != nil && !isZero(raw) {
		x.refuse("top_logprobs", shownNumber(raw))
	}
	x.refuseChat(r)
}

// writeSampling writes what the provider takes of the sampling fields. While it
// thinks, it takes neither a temperature other than its own nor top_k.
func (x *chatMessages) writeSampling(thinks bool) {
	r := &x.request
	temperature, topK := r.Temperature, r.TopK
	if thinks {
		temperature, topK = x.unlessThinking("temperature", temperature), x.unlessThinking("top_k", topK)
	}
	x.sampleMessages(temperature, r.TopP, topK)
	x.without("presence_penalty", r.PresencePenalty)
	x.without("frequency_penalty", r.FrequencyPenalty)
	x.without("seed", r.Seed)
	x.without("logit_bias", r.LogitBias)
	x.without("verbosity", r.Verbosity)
	x.without("prediction", r.Prediction)
}

// unlessThinking is a raw field that cannot be sent beside thinking.
func (x *chatMessages) unlessThinking(name string, raw []byte) []byte {
	if one, _ := integer(raw); raw == nil || name == "temperature" && one == 1 {
		return raw // 1 is the default
	}
	x.shaping(name)
	return nil
}

// writeUser tells the provider who the end user is.
func (x *chatMessages) writeUser() {
	r := &x.request
	if r.User == nil {
		x.endUser(r.SafetyIdentifier, "safety_identifier")
		return
	}
	x.endUser(r.User, "user")
	if r.SafetyIdentifier != nil && string(r.SafetyIdentifier) != string(r.User) {
		x.hint("safety_identifier")
	}
}

// writeTier writes the service tier.
func (x *chatMessages) writeTier() {
	switch tier := x.request.ServiceTier; {
	case tier == nil:
	case textOf(tier) == "auto":
		x.text("service_tier", "auto")
	case textOf(tier) == "default":
		x.text("service_tier", "standard_only")
	default:
		x.hint("service_tier")
	}
}
