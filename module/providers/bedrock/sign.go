package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/outbound"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/tokens"
)

// identity is what the credentials of the machine depend on.
type identity struct{ region, profile string }

var (
	cache  tokens.Cache[identity, aws.Credentials]
	signer = v4.NewSigner()
)

// serviceOf returns the name of the service in signatures of requests to a host: bedrock-mantle has its own.
func serviceOf(host string) string {
	if strings.HasPrefix(host, "bedrock-mantle.") {
		return "bedrock-mantle"
	}
	return "bedrock"
}

// sign signs a request with the credentials of the machine, by AWS Signature Version 4 (SigV4). If
// it is called again, it uses others than the last ones, if there are others. It returns the id of
// the key and the token of the session.
func (b *Bedrock) sign(r *http.Request, body io.WriterTo, retry bool) (sent []string, err error) {
	id := identity{b.Region, b.Profile}
	credentials, err := cache.Token(r.Context(), id, aws.Credentials{}, id.fetch)
	if err != nil {
		return nil, err
	}
	if retry {
		if other, err := cache.Token(r.Context(), id, credentials, id.fetch); err == nil {
			credentials = other
		}
	}
	for _, text := range []string{credentials.AccessKeyID, credentials.SessionToken} {
		if text != "" {
			sent = append(sent, text)
		}
	}
	return sent, signWith(r, body, credentials, b.Region, time.Now())
}

// signWith signs a request with credentials at a time.
func signWith(r *http.Request, body io.WriterTo, credentials aws.Credentials, region string, moment time.Time) error {
	hash := sha256.New()
	if _, err := body.WriteTo(hash); err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	err := signer.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(hash.Sum(nil)), serviceOf(r.Host), region, moment)
	if err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	return nil
}

// unending is the time after which credentials without an end are read again, because a file
// may have changed.
const unending = 15 * time.Minute

// errCredentials is the error for all failures to find credentials. The errors of the SDK may
// quote answers and files.
var errCredentials = errors.New("the machine has no credentials of AWS, and the provider has no api_key")

// fetch finds credentials in the order of the SDKs.
func (id identity) fetch(ctx context.Context) (token tokens.Token[aws.Credentials], err error) {
	loaded, err := config.LoadDefaultConfig(ctx, config.WithRegion(id.region), config.WithSharedConfigProfile(id.profile),
		config.WithAPIOptions([]func(*middleware.Stack) error{finalAnswers}),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.APIOptions = append(o.APIOptions, finalAnswers) }))
	if err != nil {
		return token, errCredentials
	}
	credentials, err := loaded.Credentials.Retrieve(ctx)
	if err != nil {
		return token, errCredentials
	}
	token = tokens.Token[aws.Credentials]{Value: credentials, Ends: credentials.Expires}
	if !credentials.CanExpire {
		token.Ends = time.Now().Add(unending)
	}
	return token, nil
}

// finalAnswers makes the SDK refuse answers that are not final. A client of HTTP in the place of
// the SDK's own would leave out the certificates that AWS_CA_BUNDLE names.
func finalAnswers(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("FinalAnswers", func(
		ctx context.Context, input middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (output middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
		output, metadata, err = next.HandleDeserialize(ctx, input)
		if res, ok := output.RawResponse.(*smithyhttp.Response); ok && err == nil {
			_, err = outbound.Final(res.Response, nil)
		}
		return output, metadata, err
	}), middleware.After)
}
