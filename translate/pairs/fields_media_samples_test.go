package pairs_test

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// The samples of fields with contents in bytes, of which each kind has a row.
func init() {
	const ofChat, ofResponses = "messages[*].content[*].", "input[*].content[*]."
	add := func(all samples, form string, sampleOf func(mediaType string) sample) {
		before, after, _ := strings.Cut(form, "%")
		for _, row := range core.MediaRows(form) {
			mediaType := strings.TrimSuffix(strings.TrimPrefix(row.Name, before), after)
			if !strings.HasSuffix(row.Name, "=*") {
				all[row.Name] = sampleOf(mediaType)
				continue
			}
			archive := sampleOf("application/zip")
			archive.body = strings.ReplaceAll(archive.body, "b3RoZXI=", "UEsDBAo=") // no text
			all[row.Name] = archive
		}
	}
	dataURL := func(mediaType string) string { return `"data:` + mediaType + `;base64,b3RoZXI="` }
	for _, member := range []string{"image_url", "audio_url", "video_url"} {
		part := func(members string) sample {
			return pieced(`{"type":"` + member + `","` + member + `":{` + members + `}}`)
		}
		add(samplesOfChat, ofChat+member+".url=data:%;base64,*", func(mediaType string) sample { return part(`"url":` + dataURL(mediaType)) })
		if member != "image_url" {
			dataType := map[string]string{"audio_url": "audio/wav", "video_url": "video/mp4"}[member]
			samplesOfChat[ofChat+"type="+member] = part(`"url":` + dataURL(dataType))
			samplesOfChat[ofChat+member] = part(`"url":` + dataURL(dataType))
			samplesOfChat[ofChat+member+".url=https://*"] = part(`"url":"https://h/r.` + dataType[len(dataType)-3:] + `"`)
		}
	}
	add(samplesOfChat, ofChat+"file.file_data=data:%;base64,*", func(mediaType string) sample { return filed(`"file_data":` + dataURL(mediaType)) })
	add(responsesSamples, ofResponses+"image_url=data:%;base64,*", func(mediaType string) sample {
		return showing(`{"type":"input_image","image_url":` + dataURL(mediaType) + `}`)
	})
	add(responsesSamples, ofResponses+"file_data=data:%;base64,*", func(mediaType string) sample {
		return showing(`{"type":"input_file","file_data":` + dataURL(mediaType) + `}`)
	})
	add(geminiSamples, "contents[*].parts[*].inlineData.mimeType=%", func(mediaType string) sample {
		return ofParts(`{"inlineData":{"mimeType":"` + mediaType + `","data":"b3RoZXI="}}`)
	})
	add(messagesSamples, "messages.*.content.*.source.media_type=%", func(mediaType string) sample {
		block := "document"
		if strings.HasPrefix(mediaType, "image/") {
			block = "image"
		}
		s := fromUser(`{"type":"` + block + `","source":{"type":"base64","media_type":"` + mediaType + `","data":"b3RoZXI="}}`)
		s.needed = "messages.*.content.*"
		return s
	})
	for at, of := range map[string]func(string) sample{ofChat: pieced, ofResponses: showing} {
		all := map[string]samples{ofChat: samplesOfChat, ofResponses: responsesSamples}[at]
		sound := func(format string) sample {
			return of(`{"type":"input_audio","input_audio":{"data":"AAAA","format":"` + format + `"}}`)
		}
		for _, name := range []string{"type=input_audio", "input_audio", "input_audio.data", "input_audio.format=wav"} {
			all[at+name] = sound("wav")
		}
		all[at+"input_audio.format=flac"] = sound("flac")
		all[at+"input_audio.format=*"] = sound("beam")
	}
}
