/**
 * `--upstream`: the model endpoint of `POST /v1/messages`. Its key comes from the environment, since other users of a
 * machine see the words of a command.
 *
 * @module
 */
import { messagesUrl, type Upstream } from "../../../skills/messages/upstream.ts";
import { textOption, UsageError, type Values } from "../output.ts";

export const UPSTREAM_OPTION = { upstream: { type: "string" } } as const;
export const UPSTREAM_HELP =
  `  --upstream URL      the model endpoint behind /v1/messages, anything that speaks the Messages API; its key is
                      read from TRIVET_UPSTREAM_KEY (default: a scripted model, offline)`;

/** @throws {UsageError} for a URL that is none */
export function readUpstream(
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): Upstream | undefined {
  const url = textOption(values, "upstream");
  if (url === undefined) return undefined;
  try {
    messagesUrl(url);
  } catch (cause) {
    throw new UsageError(
      `--upstream must be an http or https URL without user and fragment, but is "${url}"`,
      { cause },
    );
  }
  return { url, key: env.TRIVET_UPSTREAM_KEY || undefined };
}

/** Who answers messages, for the banner. */
export function describeUpstream(upstream: Upstream | undefined): string {
  return upstream
    ? `messages go to ${new URL(upstream.url).host}`
    : "a scripted model answers; --upstream URL names a real one";
}
