/**
 * Checks what the server needs beside its store: identity providers, the mail program, certificate files.
 *
 * @module
 */
import { checkProvider } from "../../../oauth/sign_in/check_provider.ts";
import { listProviders } from "../../../oauth/sign_in/stored_provider.ts";
import type { Store } from "../../../store/store.ts";
import { openProviders } from "../admin/admin_target.ts";
import { printableText } from "../printable_text.ts";
import { canRun, findAddress } from "../serve/serve_mail.ts";
import { readTls } from "../serve/tls_files.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

/** Whether each stored provider answers and accepts the client. */
export async function checkProviders(store: Store): Promise<readonly Finding[]> {
  const stored = await Array.fromAsync(listProviders(store));
  if (stored.length === 0) return [ok("providers", "no identity provider is stored")];
  const access = openProviders(store, Date.now, () => {});
  return await Promise.all(stored.map(async (provider) => {
    try {
      const { client, code } = await checkProvider(access, provider);
      if (client === "refused") throw new Error(`it refuses the client id or secret (${code})`);
      return ok(
        "providers",
        `${provider.id} answers${client === "accepted" ? " and accepts the client" : ""}`,
      );
    } catch (error) {
      const what = printableText(`${provider.id}: ${(error as Error).message}`, 300);
      return fail("providers", what, `run: trivet provider test ${provider.id}`);
    }
  }));
}

/** Whether the program that sends mail can be run, and the sender is an address. */
export function checkMail(program: string | undefined, from: string | undefined): readonly Finding[] {
  if (program === undefined) {
    return [fail("mail", "--mail-from needs --mail-program", "name the program that sends mails")];
  }
  if (from === undefined) {
    return [fail("mail", "--mail-program needs --mail-from", "name the sender of mails")];
  }
  const findings: Finding[] = [];
  if (!canRun(program)) {
    findings.push(
      fail("mail", `"${program}" cannot be run`, "name a program with the interface of sendmail"),
    );
  }
  if (findAddress(from) === undefined) {
    findings.push(fail("mail", `"${from}" is not an e-mail address`, "name the sender of mails"));
  }
  return findings.length > 0 ? findings : [ok("mail", `mails of ${from} are sent by ${program}`)];
}

/** Whether certificate and key fit, only their owner can read the key, and the certificate has not expired. */
export function checkTls(
  files: { readonly "tls-cert": string | undefined; readonly "tls-key": string | undefined },
): readonly Finding[] {
  const warnings: string[] = [];
  try {
    if (!readTls(files, (message) => warnings.push(message))) return [];
  } catch (error) {
    return [fail("tls", (error as Error).message, "name a certificate with its chain, and its private key")];
  }
  if (warnings.length === 0) return [ok("tls", "certificate and key fit, and are valid for a while")];
  return warnings.map((message) => warn("tls", message, "see there"));
}
