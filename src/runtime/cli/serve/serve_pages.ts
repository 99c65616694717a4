/**
 * The options of `trivet serve` for the pages: name, logo, colour and language.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { completePages, type PageOptions } from "../../../oauth/pages/settings.ts";
import type { ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";
import { describeFileError } from "../file_error.ts";

export const PAGE_OPTIONS = {
  "page-name": {
    value: "TEXT",
    summary: "the product that users sign in to",
    shownDefault: "the host of the issuer",
  },
  "page-logo": {
    value: "FILE",
    summary: "an image shown above each page, up to 48 KB (.svg, .png, .jpg, .webp, .gif), or its https URL",
    shownDefault: "a mark",
  },
  "page-accent": {
    value: "COLOR",
    summary: `color of buttons and links, such as "#5b2a86"; its contrast to white must be at least 4.5:1`,
    shownDefault: "green",
  },
  "page-language": {
    value: "LANGUAGE",
    words: ["en", "de"],
    summary: "language of the pages for browsers that ask for neither English nor German: en or de",
    default: "en",
  },
} as const;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif",
};

/** The option `pages`. @throws {UsageError} for a file that cannot be read, and for what the server does not accept */
export function readPages(
  values: ValuesOf<typeof PAGE_OPTIONS> & { readonly name?: string | undefined },
): PageOptions {
  const {
    "page-name": name = values.name,
    "page-logo": logo,
    "page-accent": accent,
    "page-language": language,
  } = values;
  const options: PageOptions = {
    defaultLanguage: language,
    ...(name !== undefined && { name }),
    ...(logo !== undefined && { logo: readLogo(logo) }),
    ...(accent !== undefined && { colors: { accent } }),
  };
  try {
    completePages(options);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(
      message.replace("Invalid options: ", "").replace(
        /"oauth\.pages\.(?:colors\.)?(\w+)"/,
        (_, key) => `--page-${key}`,
      ),
    );
  }
  return options;
}

function readLogo(place: string): string {
  if (/^https:\/\//i.test(place)) return place;
  const type = MEDIA_TYPES[extname(place).toLowerCase()];
  if (type === undefined) {
    throw new UsageError(
      `--page-logo must be an https URL or an image file (${Object.keys(MEDIA_TYPES).join(" ")})`,
    );
  }
  try {
    return `data:${type};base64,${readFileSync(place).toString("base64")}`;
  } catch (error) {
    throw new UsageError(`cannot read --page-logo: ${describeFileError(error)}`);
  }
}
