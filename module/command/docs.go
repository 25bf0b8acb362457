package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/docsite"
)

func docsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "docs", Short: "Shows the documentation of this version", Args: cobra.NoArgs,
		Long: `
Serves the pages of this version as a web site with a search, until it is interrupted. With
--out, it writes the site to a folder instead, for any web server: its addresses are relative.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir, _ := cmd.Flags().GetString("out"); dir != "" {
				return docsite.Write(dir)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serveDocs(ctx, cmd)
		},
	}
	cmd.Flags().StringP("listen", "l", "localhost:8081", "Address to listen on")
	cmd.Flags().StringP("out", "o", "", "Folder to write the site to, instead of serving it")
	return cmd
}

// serveDocs serves the pages until the context ends.
func serveDocs(ctx context.Context, cmd *cobra.Command) error {
	address, _ := cmd.Flags().GetString("listen")
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			docsite.Serve(w, r, strings.TrimPrefix(r.URL.Path, "/"))
		}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Fprintf(cmd.OutOrStdout(), "The pages are at http://%s/. Press Ctrl-C to stop.\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving pages: %w", err)
	}
	return nil
}
