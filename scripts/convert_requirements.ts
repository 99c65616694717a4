/**
 * `node scripts/convert_requirements.ts FILE`: converts a list of OAuth requirements (an array of
 * `{ rfc, section, level, statement, observable, blackbox }`) to `conformance/requirements/rfc*.json`, one file for each
 * document. An id consists of document, section and position.
 *
 * Existing rows keep their ids, levels and reasons; new rows are appended.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

interface Requirement {
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

function findExclusion({ blackbox, feature }: Requirement): string | undefined {
  if (feature === "tls") {
    return "TLS is terminated in front of the server; a target under test is on loopback";
  }
  if (feature === "docs") return "Documentation cannot be observed on the wire";
  return blackbox === "no" ? "The behaviour of the other side cannot be observed at the server" : undefined;
}

const [path] = process.argv.slice(2);
if (!path) throw new TypeError("Usage: node scripts/convert_requirements.ts FILE");
const documents = new Map<string, Row[]>();
for (const each of JSON.parse(readFileSync(path, "utf8")) as Requirement[]) {
  const document = `rfc${each.rfc}`;
  const rows = documents.get(document) ?? [];
  documents.set(document, rows);
  const prefix = `${document}#${each.section}/`;
  const position = rows.filter((row) => row.id.startsWith(prefix)).length + 1;
  const excluded = findExclusion(each);
  rows.push({
    id: `${prefix}${position}`,
    level: each.level,
    text: each.statement,
    shows: each.observable,
    ...(excluded && { excluded }),
  });
}
for (const [document, rows] of documents) {
  const file = `conformance/requirements/${document}.json`;
  const existing: Row[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).rows : [];
  const known = new Set(existing.map((row) => row.id));
  const whole = {
    $schema: "../requirement.schema.json",
    document,
    title: TITLES[document],
    url: `https://www.rfc-editor.org/rfc/${document}#section-{section}`,
    rows: [...existing, ...rows.filter((row) => !known.has(row.id))],
  };
  writeFileSync(file, JSON.stringify(whole, null, 2) + "\n");
  console.log(`${file}: ${whole.rows.length} rows`);
}
