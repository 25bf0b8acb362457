# The gateway in a container: docker build -t caddy-ai-gateway .
#
# It runs as a user without rights and needs no writable files but those of /data, which has
# certificates, users, keys, usage and the journal of the ledger, and of /config.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /source
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags "-s -w" -o /image/usr/bin/caddy ./cmd/caddy \
	&& install -D -m 644 caddyfile/deploy/package/Caddyfile /image/etc/caddy/Caddyfile \
	&& install -d -o 65532 -g 65532 -m 700 /image/data /image/config

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /image /
ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config GATEWAY_ADDRESS=:8080
VOLUME /data /config
EXPOSE 8080
USER 65532:65532
HEALTHCHECK --interval=10s --start-period=30s CMD ["/usr/bin/caddy", "ai-gateway", "status"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/caddy"]
CMD ["run", "--config", "/etc/caddy/Caddyfile"]
