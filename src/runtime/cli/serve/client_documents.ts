/**
 * Whether client ids can be URLs of client metadata documents: what `--client-documents auto` comes to, while the server
 * runs.
 *
 * @module
 */
import { watchInternetAccess } from "../../internet_access.ts";
import { printLine } from "../output.ts";

export interface ClientDocuments {
  /** For the option `oauth.clientMetadataDocuments`. */
  readonly supported: boolean | (() => boolean);
  stop(): void;
}

const ON = "Client metadata documents are on: this server can reach the internet.";
const OFF =
  "Client metadata documents are off: the name server does not resolve internet names, so documents could not be " +
  "fetched, and clients must register. --client-documents on turns them on; off hides this message.";

/** Begins to find out what `auto` comes to, without waiting for it, and prints the result. */
export function watchClientDocuments(
  choice: "on" | "off" | "auto",
  print: (text: string) => void = printLine,
): ClientDocuments {
  if (choice !== "auto") return { supported: choice === "on", stop: () => {} };
  let isFirst = true;
  const access = watchInternetAccess((isOpen) => {
    // The usual result is worth no line at start.
    if (!isFirst || !isOpen) print(isOpen ? ON : OFF);
    isFirst = false;
  });
  return { supported: access.isOpen, stop: access.stop };
}
