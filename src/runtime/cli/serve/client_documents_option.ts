/**
 * `--client-documents`: whether a client id may be the address of a document that describes the client.
 *
 * @module
 */
import { watchWayOut } from "../../way_out.ts";
import { printLine, type Values, wordOption } from "../output.ts";

export const CLIENT_DOCUMENTS_HELP: string =
  `  --client-documents W whether a client id may be the address of a document that describes the client: on, off, or
                      auto: where the name server knows the internet, asked at start and until it does (default: auto)`;

export const CLIENT_DOCUMENTS_OPTION = { "client-documents": { type: "string" } } as const;

export interface ClientDocuments {
  /** For the option `oauth.clientMetadataDocuments`. */
  readonly supported: boolean | (() => boolean);
  stop(): void;
}

const FOUND = "Client metadata documents are on: this server has a way out to the internet.";
const MISSING =
  "Client metadata documents are off: the name server does not know the internet, so they could not be " +
  "fetched and clients register instead. --client-documents on turns them on, off silences this.";

/** @throws {UsageError} */
export function readClientDocuments(values: Values): "on" | "off" | "auto" {
  return wordOption(values, "client-documents", ["on", "off", "auto"]) ?? "auto";
}

/** Begins to find out what `auto` comes to, and says so to people; nothing waits for it. */
export function openClientDocuments(
  choice: "on" | "off" | "auto",
  say: (text: string) => void = printLine,
): ClientDocuments {
  if (choice !== "auto") return { supported: choice === "on", stop: () => {} };
  let first = true;
  const wayOut = watchWayOut((isOpen) => {
    // That all is as usual is worth no line at start.
    if (!first || !isOpen) say(isOpen ? FOUND : MISSING);
    first = false;
  });
  return { supported: wayOut.isOpen, stop: wayOut.stop };
}
