/**
 * Faults that refuse valid skill packages or misread display names.
 *
 * @module
 */
import { pathOf } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeResponseJson, LIST } from "./skills_responses.ts";
import { refuseUploads } from "./upload_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const SKILLS = "/v1/skills";

/** Refuses uploads whose body matches. */
const refuseMatching = (pattern: RegExp): Wrap => refuseUploads(({ text }) => pattern.test(text));

export const SKILLS_PACKAGES: readonly Mutant[] = [
  {
    name: "skills/rule-ends-body",
    fault: "Refuses lines of hyphens in the body",
    wrap: refuseMatching(/\n---\r?\n[^]*\n---\r?\n[^]*\n---/),
    killedBy: names("package/rule-in-body"),
    mayFail: { "Parts of multipart bodies have lines of hyphens": names("") },
  },
  {
    name: "skills/body-required",
    fault: "Refuses a SKILL.md without a body",
    wrap: refuseMatching(/\n---\n?\r\n--/),
    killedBy: names("package/no-body"),
    mayFail: { "Its body ends with a line of hyphens": names("package/rule-in-body") },
  },
  {
    name: "skills/unix-lines",
    fault: "Refuses lines that end with CRLF",
    wrap: refuseMatching(/\r\n\r\n---\r\n/),
    killedBy: names("package/windows-lines"),
  },
  {
    name: "skills/names-of-63",
    fault: "Refuses names of 64 characters",
    wrap: refuseMatching(/\nname: [a-z0-9-]{64}\n/),
    killedBy: names("package/name-of-64"),
  },
  {
    name: "skills/descriptions-of-1000",
    fault: "Refuses descriptions of 1024 characters",
    wrap: refuseMatching(/\ndescription: [ -~]{1001,1024}\n/),
    killedBy: names("package/description-of-1024"),
  },
  {
    name: "skills/descriptions-in-bytes",
    fault: "Counts bytes of descriptions in place of characters",
    wrap: refuseMatching(/\ndescription: [^\n]{1025,}\n/),
    killedBy: names("package/description-of-1024-letters"),
  },
  {
    name: "skills/no-quotes",
    fault: "Refuses quoted strings in front matter",
    wrap: refuseMatching(/\ndescription: "/),
    killedBy: names("package/description-quoted"),
    mayFail: { "They send quoted strings": names("package/", "intake/") },
  },
  {
    name: "skills/no-folds",
    fault: "Refuses folded strings in front matter",
    wrap: refuseMatching(/\ndescription: >/),
    killedBy: names("package/description-folded"),
  },
  {
    name: "skills/no-licenses",
    fault: "Refuses license",
    wrap: refuseMatching(/\nlicense:/),
    killedBy: names("package/license"),
  },
  {
    name: "skills/no-allowed-tools",
    fault: "Refuses allowed-tools",
    wrap: refuseMatching(/\nallowed-tools:/),
    killedBy: names("package/allowed-tools"),
  },
  {
    name: "skills/no-metadata",
    fault: "Refuses metadata",
    wrap: refuseMatching(/\nmetadata:/),
    killedBy: names("package/metadata"),
  },
  {
    name: "skills/compatibility-of-100",
    fault: "Refuses compatibility of more than 100 characters",
    wrap: refuseMatching(/\ncompatibility: [^\n]{101,500}\n/),
    killedBy: names("package/compatibility-of-500"),
  },
  {
    name: "skills/markdown-only",
    fault: "Refuses files that are not Markdown",
    wrap: refuseUploads(({ paths }) => paths.some((path) => /\.(py|png|bin|txt|html)$/.test(path))),
    killedBy: names("package/any-files", "create/whole-object"),
    mayFail: { "They upload such files": names("") },
  },
  {
    name: "skills/labels-in-capitals",
    fault: "Returns display names in capitals",
    wrap: changeResponseJson("POST", LIST, (json) => {
      json["display_name"] = String(json["display_name"]).toUpperCase();
    }),
    killedBy: names("create/label-kept", "create/whole-object", "create/label-after-files"),
    mayFail: { "They compare the display name": names("") },
  },
  {
    name: "skills/labels-of-200",
    fault: "Refuses display names of more than 200 characters",
    wrap: refuseMatching(/name="display_name"\r\n\r\n[^\r]{201,255}\r\n/),
    killedBy: names("create/label-of-255"),
  },
  {
    name: "skills/labels-unique",
    fault: "Refuses a display name that another skill has",
    wrap: (next) => {
      const labels = new Set<string>();
      return refuseUploads(({ text }) => {
        const label = /name="display_name"\r\n\r\n([^\r]*)\r\n/.exec(text)?.[1];
        const isThere = label !== undefined && labels.has(label);
        if (label !== undefined) labels.add(label);
        return isThere;
      })(next);
    },
    killedBy: names("create/label-twice"),
  },
  {
    name: "skills/label-first",
    fault: "Ignores a display name that comes after the files",
    wrap: (next) => async (request) => {
      if (request.method !== "POST" || pathOf(request) !== SKILLS) return await next(request);
      const text = await request.clone().text();
      const [files, label] = [text.indexOf('name="files[]"'), text.indexOf('name="display_name"')];
      if (files < 0 || label < files) return await next(request);
      const headers = new Headers(request.headers);
      headers.delete("content-length");
      const body = text.replace('name="display_name"', 'name="display"');
      return await next(new Request(request.url, { method: "POST", headers, body }));
    },
    killedBy: names("create/label-after-files"),
  },
];
