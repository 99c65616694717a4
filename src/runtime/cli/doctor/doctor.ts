/**
 * `trivet doctor`: checks a store and a running server, and prints a line for each check.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Credentials, readCredentials } from "../api/credentials.ts";
import { SERVER_OPTIONS } from "../api/server_options.ts";
import { DATA_OPTIONS, isShared, type Place, readPlace, withStore } from "../data.ts";
import { describeOptions, readArguments, type ValuesOf } from "../options.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { checkAudit } from "./check_audit.ts";
import { checkModes, checkSpace } from "./check_files.ts";
import { checkServerSecret, checkSigningKeys } from "./check_keys.ts";
import { checkAddress, checkBody, checkHost, checkKeepAlive, checkStream } from "./check_proxy.ts";
import { checkMail, checkProviders, checkTls } from "./check_services.ts";
import { checkClock, checkDurable, checkExpired, checkFormat, checkRoundTrip } from "./check_store.ts";
import { checkDate, checkHttps, checkIssuer, checkReady, checkResource } from "./check_url.ts";
import { type Check, type Finding, runCheck } from "./finding.ts";

const OPTIONS = {
  ...DATA_OPTIONS,
  url: {
    ...SERVER_OPTIONS.url,
    summary: "also check the running server with this issuer, as its clients see it",
  },
  "key-file": SERVER_OPTIONS["key-file"],
  "tls-cert": { value: "FILE", summary: "the certificate of serve, to check it" },
  "tls-key": { value: "FILE", summary: "its private key" },
  "mail-program": { value: "FILE", summary: "the mail program of serve, to check it" },
  "mail-from": { value: "ADDRESS", summary: "the sender of its mails" },
  json: { summary: "print JSON" },
} as const;
type Values = ValuesOf<typeof OPTIONS>;

export const help: string = `trivet doctor: checks a store and a running server

Usage: trivet doctor [options]

${describeOptions(OPTIONS)}

Prints a line for each check: "ok", "warn" or "FAIL", what was found, and what to do. The exit code is 1 when a check
failed. A server can run meanwhile. With --url it sends some requests, among them a login that fails; without a store at
--data or --store it checks the server alone.

Examples:
  trivet doctor
  trivet doctor --url https://agents.example.com --store postgres://trivet@db.example/trivet
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, given } = readArguments(argv, OPTIONS);
  const place = readPlace(values, process.env);
  const hasStore = given.has("data") || given.has("store") || values.url === undefined || exists(place);
  const findings: Finding[] = [];
  const secrets = secretsOf(place);
  const report = async (checks: readonly Check[]): Promise<void> => {
    for (const check of checks) {
      for (const finding of await runCheck(check, secrets)) {
        findings.push(finding);
        if (!values.json) printFinding(finding);
      }
    }
  };
  const hasFiles = hasStore && place.store === "sqlite" && exists(place);
  if (hasFiles) {
    await report([
      { name: "files", run: () => checkModes(place.folder) },
      { name: "disk", run: () => checkSpace(place.folder) },
    ]);
  }
  await report(settingChecks(values));
  if (hasStore) {
    try {
      await withStore(place, async (store) => {
        let isReached = false;
        await report([{
          name: "store",
          async run() {
            const findings = await checkRoundTrip(store);
            isReached = true;
            return findings;
          },
        }]);
        // What the driver says before it has connected are guesses, and the other checks would each fail for the same reason.
        if (!isReached) return;
        await report([
          { name: "durable", run: () => checkDurable(store) },
          { name: "format", run: () => checkFormat(store) },
          { name: "expired", run: () => checkExpired(store) },
          { name: "clock", run: () => checkClock(store, Date.now) },
          { name: "keys", run: () => checkSigningKeys(store) },
          { name: "secret", run: () => checkServerSecret(store) },
          { name: "audit", run: () => checkAudit(store) },
          { name: "providers", run: () => checkProviders(store) },
          ...values.url ? [{ name: "address", run: () => checkAddress(values.url!, store) }] : [],
        ]);
      });
    } catch (error) {
      await report([{ name: "store", run: () => Promise.reject(error) }]);
    }
  }
  if (values.url) {
    let credentials: Credentials | undefined;
    await report([{
      name: "key",
      run: () => {
        credentials = readCredentials(values["key-file"], process.env);
        return [];
      },
    }]);
    await report(serverChecks(values.url, credentials));
  }
  if (values.json) printJson(findings);
  const failed = findings.filter(({ level }) => level === "FAIL").length;
  if (failed > 0) throw new Error(`${failed} of ${findings.length} checks failed`);
}

function settingChecks(values: Values): Check[] {
  const { "mail-program": program, "mail-from": from } = values;
  return [
    { name: "tls", run: () => checkTls(values) },
    ...program === undefined && from === undefined
      ? []
      : [{ name: "mail", run: () => checkMail(program, from) }],
  ];
}

function serverChecks(url: URL, credentials: Credentials | undefined): Check[] {
  return [
    { name: "issuer", run: () => checkIssuer(url) },
    { name: "https", run: () => checkHttps(url) },
    { name: "ready", run: () => checkReady(url) },
    { name: "resource", run: () => checkResource(url) },
    { name: "clock", run: () => checkDate(url, Date.now) },
    { name: "host", run: () => checkHost(url, credentials) },
    { name: "stream", run: () => checkStream(url, credentials) },
    { name: "keep-alive", run: () => checkKeepAlive(url) },
    { name: "body", run: () => checkBody(url, credentials) },
  ];
}

function exists(place: Place): boolean {
  return isShared(place) || existsSync(join(place.folder, "trivet.db"));
}

/** The address of a store with its password, and the password alone: an error of a driver may quote them. */
function secretsOf({ store }: Place): string[] {
  const password = URL.parse(store)?.password ?? "";
  return store.includes("://") ? [store, password, decodeURIComponent(password)] : [];
}

function printFinding({ level, check, what, advice }: Finding): void {
  const text = printableText(advice === undefined ? what : `${what} — ${advice}`);
  printLine(`${level.padEnd(6)}${check.padEnd(12)}${text}`);
}
