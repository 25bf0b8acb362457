package bedrock

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The credentials and the time of AWS' test suite for signatures of version 4.
var (
	vectorCredentials = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	vectorTime        = time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
)

// vectorToken is the session token of the vector post-sts-header-before.
const vectorToken = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="

// signature returns the signature that a service expects of a request, by the documentation
// of AWS and without its SDK. names are the signed headers.
func signature(r *http.Request, body, secret, scope string, names ...string) string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25")
	canonical := r.Method + "\n" + path + "\n" + r.URL.RawQuery + "\n"
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = "2"
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, value)
	}
	canonical += headers.String() + "\n" + strings.Join(names, ";") + "\n" + digest(body)
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + digest(canonical)
	key := []byte("AWS4" + secret)
	for _, part := range append(strings.Split(scope, "/"), text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key)
}

func request(t *testing.T, method, path string) *http.Request {
	call := "https://example.amazonaws.com" + path
	r, err := http.NewRequest(method, call, nil)
	require.NoError(t, err)
	r.Host = r.URL.Host
	return r
}

// The expected signatures are those of AWS' test suite.
func TestK050SignaturesAreThoseOfTheTestVectors(t *testing.T) {
	r := request(t, http.MethodGet, "/")
	r.Header.Set("X-Amz-Date", "20150830T123600Z")
	const scope = "20150830/us-east-1/service/aws4_request"
	assert.Equal(t, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
		signature(r, "", vectorCredentials.SecretAccessKey, scope, "host", "x-amz-date"), "get-vanilla")
	r.Method = http.MethodPost
	r.Header.Set("X-Amz-Security-Token", vectorToken)
	assert.Equal(t, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
		signature(r, "", vectorCredentials.SecretAccessKey, scope, "host", "x-amz-date", "x-amz-security-token"), "post-sts-header-before")
	for _, body := range []string{"{}", "[]"} {
		credentials := vectorCredentials
		credentials.SessionToken = vectorToken
		r := request(t, http.MethodPost, "/")
		r.ContentLength = 2
		require.NoError(t, signWith(r, bytes.NewReader([]byte(body)), credentials, "us-east-1", vectorTime))
		want := signature(r, body, credentials.SecretAccessKey, "20150830/us-east-1/bedrock/aws4_request", "content-length", "host", "x-amz-date", "x-amz-security-token")
		assert.Equal(t, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/bedrock/aws4_request, "+
			"SignedHeaders=content-length;host;x-amz-date;x-amz-security-token, Signature="+want, r.Header.Get("Authorization"))
	}
}

func TestK049AnARNIsOneSegmentOfThePath(t *testing.T) {
	const arn = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	segment, err := aigateway.PathSegment(arn)
	require.NoError(t, err)
	assert.Equal(t, "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-5-20250929-v1%3A0", segment)
	r := request(t, http.MethodPost, "/model/"+segment+"/invoke")
	require.Equal(t, "/model/"+segment+"/invoke", r.URL.EscapedPath())
	r.ContentLength = 2
	require.NoError(t, signWith(r, bytes.NewReader([]byte("{}")), vectorCredentials, "us-east-1", vectorTime))
	want := signature(r, "{}", vectorCredentials.SecretAccessKey, "20150830/us-east-1/bedrock/aws4_request", "content-length", "host", "x-amz-date")
	assert.True(t, strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want))
}

// The SDK waited without end for the body of such an answer of the metadata service.
func TestAnInformationalAnswerHasNoCredentials(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}))
	t.Cleanup(service.Close)
	for name, env := range map[string][2]string{
		"of a machine":   {"AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL},
		"of a container": {"AWS_CONTAINER_CREDENTIALS_FULL_URI", service.URL},
	} {
		t.Run(name, func(t *testing.T) {
			for _, unset := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_EC2_METADATA_DISABLED"} {
				t.Setenv(unset, "")
			}
			t.Setenv("AWS_CONFIG_FILE", "/nowhere")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
			t.Setenv(env[0], env[1])
			_, err := identity{region: "us-east-1"}.fetch(t.Context())
			assert.ErrorIs(t, err, errCredentials)
		})
	}
}

// Requests to bedrock-mantle were signed for another service, which refuses them.
func TestTheServiceOfASignatureIsThatOfTheHost(t *testing.T) {
	for host, service := range map[string]string{
		"bedrock-runtime.us-east-1.amazonaws.com": "bedrock", "bedrock-mantle.us-east-1.api.aws": "bedrock-mantle",
		"vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com": "bedrock", "127.0.0.1:8443": "bedrock",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+"/openai/v1/responses", http.NoBody)
		require.NoError(t, err)
		require.NoError(t, signWith(r, bytes.NewBuffer(nil), aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}, "us-east-1", time.Now()))
		assert.Contains(t, r.Header.Get("Authorization"), "/us-east-1/"+service+"/aws4_request", host)
	}
}
