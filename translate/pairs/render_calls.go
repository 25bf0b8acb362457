package pairs

import "strconv"

// fanOut notes that each prompt is sent as often as samples are wanted of it.
// What would be more calls than the provider may be asked for is refused: by
// the prompts where they are too many by themselves, else by n.
func (x *conversion) fanOut(samples int64) {
	most := x.traits.FanOut()
	switch prompts := int64(x.prompts); {
	case x.fault != nil:
	case prompts > most:
		x.fault = x.info.RefuseCalls(x.to, "prompt", strconv.Itoa(x.prompts)+" prompts", most)
	case samples > most/prompts:
		x.fault = x.info.RefuseCalls(x.to, "n", shownSamples(samples, x.prompts), most)
	default:
		x.samples = int(samples)
	}
}

func shownSamples(samples int64, prompts int) string {
	shown := strconv.FormatInt(samples, 10)
	if prompts > 1 {
		shown += " for " + strconv.Itoa(prompts) + " prompts"
	}
	return shown
}
