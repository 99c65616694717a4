/**
 * The certificate files of `trivet serve`: read at the start, and again when they change.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import process from "node:process";
import { createSecureContext } from "node:tls";
import { describeError, type Log } from "../../../observability/log.ts";
import type { RunningServer, TlsCertificate } from "../../server.ts";
import { UsageError } from "../output.ts";
import { WatchedFiles, watchFiles } from "./watch_files.ts";
import { describeFileError } from "../file_error.ts";

export interface TlsFiles {
  /** What the files hold now. */
  readonly current: TlsCertificate;
  /** Uses changed files for new connections. What cannot be used is logged, and the certificate before it stays. */
  watch(server: Pick<RunningServer, "replaceCertificate">, log: Pick<Log, "line">): () => void;
}

/** The mode bits for users who are neither the owner nor in the group of a file. */
const FOR_OTHERS = 0o007;
/** How long before its end a certificate causes a warning at the start. */
const NOTICE_MS = 7 * 86_400_000;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The files that the options name; `undefined` without TLS.
 * @throws {UsageError} for one file without the other, and for files that cannot be used
 */
export function readTls(
  { "tls-cert": certificate, "tls-key": key }: {
    readonly "tls-cert": string | undefined;
    readonly "tls-key": string | undefined;
  },
  onWarning: (message: string) => void,
): TlsFiles | undefined {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined) {
    throw new UsageError("--tls-cert and --tls-key need each other");
  }
  const read = (): TlsCertificate => {
    const pair = { certificate: readPem("--tls-cert", certificate), key: readPem("--tls-key", key) };
    checkPair(pair);
    return pair;
  };
  const files = new WatchedFiles(certificate, key);
  let current = read();
  if (process.platform !== "win32" && (statOf(key)?.mode ?? 0) & FOR_OTHERS) {
    onWarning(`Other users of this machine can read the private key "${key}". Set its mode to 0600`);
  }
  const expiry = findExpiry(current);
  if (expiry.getTime() < Date.now() + NOTICE_MS) {
    onWarning(`The certificate "${certificate}" expires at ${expiry.toISOString()}. Renew it`);
  }
  return {
    get current() {
      return current;
    },
    watch: (server, log) =>
      watchFiles(files, async () => {
        try {
          const next = read();
          await server.replaceCertificate(next);
          current = next;
          log.line("info", "certificate_replaced", { valid_to: findExpiry(next).toISOString() });
        } catch (error) {
          log.line("error", "certificate_refused", { error: describeError(error) });
        }
      }),
  };
}

const findExpiry = ({ certificate }: TlsCertificate): Date =>
  new Date(new X509Certificate(certificate).validTo);

const statOf = (file: string) => statSync(file, { throwIfNoEntry: false });

function readPem(option: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UsageError(`${option}: cannot read "${file}": ${describeFileError(cause)}`, { cause });
  }
}

/** Errors of the runtime may quote a file: these do not. */
function checkPair({ certificate, key }: TlsCertificate): void {
  let isPair: boolean;
  try {
    isPair = new X509Certificate(certificate).publicKey.equals(toPublicKey(key));
  } catch {
    throw new UsageError("--tls-cert and --tls-key must be a certificate and its private key in PEM form");
  }
  if (!isPair) throw new UsageError("--tls-key is not the private key of --tls-cert");
  try {
    // Deno sends a damaged certificate of the chain as it is.
    for (const [each] of certificate.matchAll(PEM_CERTIFICATE)) new X509Certificate(each);
    // Node refuses short keys, too.
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new UsageError(`--tls-cert and --tls-key cannot be used: ${reason}`, { cause });
  }
}

function toPublicKey(key: string) {
  return createPublicKey(createPrivateKey(key));
}
