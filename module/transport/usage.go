package transport

// usageEditor returns the editor of the usage in a stream of the client's own format. It
// cuts usage out if only the gateway has asked for it, else it may fill in fields that the
// provider leaves out. It is nil if usage is relayed unchanged.
func (c *call) usageEditor() editor {
	if asksUsage(c.attempt) {
		return c.attempt.Format.Answers.Usage.Cut
	}
	return c.usageFiller()
}

// usageFiller returns the editor that fills in fields of usage that the provider leaves out,
// nil unless the target has the trait for that.
func (c *call) usageFiller() editor {
	if c.attempt.Traits.FillUsageDetails {
		return c.attempt.Format.Answers.Usage.Fill
	}
	return nil
}
