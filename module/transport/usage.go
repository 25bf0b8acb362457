package transport

// usageEditor edits the usage in a stream of the client's own format: it cuts out
// what the gateway has asked for itself, and may fill in what the provider leaves
// out of the rest. It is nil where usage is relayed as it is.
func (c *call) usageEditor() editor {
	if c.usageAsked() {
		return c.attempt.Format.Answers.Usage.Cut
	}
	return c.usageFiller()
}

// usageFiller fills in what the provider leaves out of its usage, where the target
// has the trait; else it is nil.
func (c *call) usageFiller() editor {
	if c.attempt.Traits.FillUsageDetails {
		return c.attempt.Format.Answers.Usage.Fill
	}
	return nil
}
