/**
 * Faults of a Skills API that refuses right packages, or reads labels wrongly.
 *
 * @module
 */
import { pathOf } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { LIST, told } from "./skills_told.ts";
import { refusing } from "./upload.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `skills/${id}`);

const SKILLS = "/v1/skills";

/** Refuses uploads whose text has such a part. */
const without = (pattern: RegExp): Wrap => refusing(({ text }) => pattern.test(text));

export const SKILLS_PACKAGES: readonly Mutant[] = [
  {
    name: "skills/rule-ends-body",
    fault: "Refuses lines of hyphens in the body",
    wrap: without(/\n---\r?\n[^]*\n---\r?\n[^]*\n---/),
    breaks: names("package/rule-in-body"),
    mayBreak: { "Parts of multipart bodies have lines of hyphens": names("") },
  },
  {
    name: "skills/body-needed",
    fault: "Refuses a SKILL.md without a body",
    wrap: without(/\n---\n?\r\n--/),
    breaks: names("package/no-body"),
    mayBreak: { "It ends in a line of hyphens": names("package/rule-in-body") },
  },
  {
    name: "skills/unix-lines",
    fault: "Refuses lines that end as on Windows",
    wrap: without(/\r\n\r\n---\r\n/),
    breaks: names("package/windows-lines"),
  },
  {
    name: "skills/names-of-63",
    fault: "Refuses names of 64 characters",
    wrap: without(/\nname: [a-z0-9-]{64}\n/),
    breaks: names("package/name-of-64"),
  },
  {
    name: "skills/descriptions-of-1000",
    fault: "Refuses descriptions of 1024 characters",
    wrap: without(/\ndescription: [ -~]{1001,1024}\n/),
    breaks: names("package/description-of-1024"),
  },
  {
    name: "skills/descriptions-in-bytes",
    fault: "Counts the bytes of descriptions",
    wrap: without(/\ndescription: [^\n]{1025,}\n/),
    breaks: names("package/description-of-1024-letters"),
  },
  {
    name: "skills/no-quotes",
    fault: "Does not read quotes in front matter",
    wrap: without(/\ndescription: "/),
    breaks: names("package/description-quoted"),
    mayBreak: { "They have quotes": names("package/", "intake/") },
  },
  {
    name: "skills/no-folds",
    fault: "Does not read folded texts in front matter",
    wrap: without(/\ndescription: >/),
    breaks: names("package/description-folded"),
  },
  {
    name: "skills/no-licenses",
    fault: "Refuses licenses",
    wrap: without(/\nlicense:/),
    breaks: names("package/license"),
  },
  {
    name: "skills/no-allowed-tools",
    fault: "Refuses allowed tools",
    wrap: without(/\nallowed-tools:/),
    breaks: names("package/allowed-tools"),
  },
  {
    name: "skills/no-metadata",
    fault: "Refuses metadata",
    wrap: without(/\nmetadata:/),
    breaks: names("package/metadata"),
  },
  {
    name: "skills/compatibility-of-100",
    fault: "Refuses compatibility of more than a hundred characters",
    wrap: without(/\ncompatibility: [^\n]{101,500}\n/),
    breaks: names("package/compatibility-of-500"),
  },
  {
    name: "skills/markdown-alone",
    fault: "Refuses files that are no Markdown",
    wrap: refusing(({ paths }) => paths.some((path) => /\.(py|png|bin|txt|html)$/.test(path))),
    breaks: names("package/any-files", "create/whole-object"),
    mayBreak: { "They have such files": names("") },
  },
  {
    name: "skills/labels-in-capitals",
    fault: "Writes labels in capitals",
    wrap: told("POST", LIST, (json) => {
      json["display_name"] = String(json["display_name"]).toUpperCase();
    }),
    breaks: names("create/label-kept", "create/whole-object", "create/label-after-files"),
    mayBreak: { "They compare the label": names("") },
  },
  {
    name: "skills/labels-of-200",
    fault: "Refuses labels of more than two hundred characters",
    wrap: without(/name="display_name"\r\n\r\n[^\r]{201,255}\r\n/),
    breaks: names("create/label-of-255"),
  },
  {
    name: "skills/labels-unique",
    fault: "Refuses a label that another skill has",
    wrap: (next) => {
      const labels = new Set<string>();
      return refusing(({ text }) => {
        const label = /name="display_name"\r\n\r\n([^\r]*)\r\n/.exec(text)?.[1];
        const isThere = label !== undefined && labels.has(label);
        if (label !== undefined) labels.add(label);
        return isThere;
      })(next);
    },
    breaks: names("create/label-twice"),
  },
  {
    name: "skills/label-first",
    fault: "Reads the label before the files alone",
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
    breaks: names("create/label-after-files"),
  },
];
