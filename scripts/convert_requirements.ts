/**
 * `node scripts/convert_requirements.ts collected.json`: turns a collected list of OAuth requirements (one array of
 * `{ rfc, section, level, statement, observable, blackbox }`) into `conformance/requirements/rfc*.json`, one file a
 * document. An id is document, section and position there, so that it reads as a citation.
 *
 * Rows that a file already holds keep their ids, levels and reasons: only what is new is appended.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

interface Collected {
  readonly rfc: number;
  readonly section: string;
  readonly level: string;
  readonly statement: string;
  readonly observable: string;
  readonly blackbox: "yes" | "partial" | "env" | "no";
  readonly feature: string;
}

interface Row {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  readonly shows: string;
  readonly excluded?: string;
}

const TITLES: Readonly<Record<string, string>> = {
  rfc6749: "The OAuth 2.0 Authorization Framework",
  rfc6750: "The OAuth 2.0 Authorization Framework: Bearer Token Usage",
  rfc7009: "OAuth 2.0 Token Revocation",
  rfc7591: "OAuth 2.0 Dynamic Client Registration Protocol",
  rfc7636: "Proof Key for Code Exchange by OAuth Public Clients",
  rfc7662: "OAuth 2.0 Token Introspection",
  rfc8414: "OAuth 2.0 Authorization Server Metadata",
  rfc8707: "Resource Indicators for OAuth 2.0",
  rfc9207: "OAuth 2.0 Authorization Server Issuer Identification",
  rfc9700: "Best Current Practice for OAuth 2.0 Security",
};

function whyExcluded({ blackbox, feature }: Collected): string | undefined {
  if (feature === "tls") {
    return "TLS is the deployment's, in front of the server; a target under test is on loopback";
  }
  if (feature === "docs") return "A sentence in a manual cannot be seen on the wire";
  return blackbox === "no" ? "What the other side does cannot be seen at the server" : undefined;
}

const [path] = process.argv.slice(2);
if (!path) throw new TypeError("Cannot convert requirements: name the file that was collected");
const documents = new Map<string, Row[]>();
for (const each of JSON.parse(readFileSync(path, "utf8")) as Collected[]) {
  const document = `rfc${each.rfc}`;
  const rows = documents.get(document) ?? [];
  documents.set(document, rows);
  const before = `${document}#${each.section}/`;
  const position = rows.filter((row) => row.id.startsWith(before)).length + 1;
  const excluded = whyExcluded(each);
  rows.push({
    id: `${before}${position}`,
    level: each.level,
    text: each.statement,
    shows: each.observable,
    ...(excluded && { excluded }),
  });
}
for (const [document, rows] of documents) {
  const file = `conformance/requirements/${document}.json`;
  const kept: Row[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).rows : [];
  const known = new Set(kept.map((row) => row.id));
  const whole = {
    $schema: "../requirement.schema.json",
    document,
    title: TITLES[document],
    url: `https://www.rfc-editor.org/rfc/${document}#section-{section}`,
    rows: [...kept, ...rows.filter((row) => !known.has(row.id))],
  };
  writeFileSync(file, JSON.stringify(whole, null, 2) + "\n");
  console.log(`${file}: ${whole.rows.length} rows`);
}
