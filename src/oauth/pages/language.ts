/**
 * The language of a page: `ui_locales` of the authorization request (OpenID Connect Core section 3.1.2.1), then
 * `Accept-Language` (RFC 9110 section 12.5.4), matched by the primary subtag (RFC 4647 section 3.4).
 *
 * @module
 */
import { parseForm } from "../../http/body/form.ts";
import { queryOf } from "../../http/router.ts";
import { type Language, LANGUAGES } from "./languages.ts";

/** Ranges of `Accept-Language` that are read; browsers send fewer than ten. */
const MAX_RANGES = 20;

/**
 * The language for a request.
 * @param ui_locales language tags separated by spaces, the preferred one first. @default those in the query of the
 * request, or in its `redirect`, so that the pages of one sign-in have one language
 * @param fallback when the request names none that there is
 */
export function chooseLanguage(
  request: Request,
  ui_locales: string | undefined = findUiLocales(request.url),
  fallback: Language = "en",
): Language {
  for (const tag of (ui_locales ?? "").split(" ", MAX_RANGES)) {
    const language = toLanguage(tag);
    if (language) return language;
  }
  return negotiate(request.headers.get("accept-language") ?? "", fallback);
}

/** The language with the highest weight, the first among equals. A range with weight 0 is not acceptable. */
function negotiate(field: string, fallback: Language): Language {
  const weights = new Map<Language | "*", number>();
  for (const range of field.split(",", MAX_RANGES)) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
    const language = tag === "*" ? "*" : toLanguage(tag);
    const weight = parseWeight(parameters);
    // "de-AT;q=0, de": the other variants are acceptable.
    if (language && weight > (weights.get(language) ?? -1)) weights.set(language, weight);
  }
  const wildcard = weights.get("*") ?? 0;
  weights.delete("*");
  if (wildcard > 0) {
    const rest = [fallback, ...LANGUAGES].find((language) => !weights.has(language));
    if (rest) weights.set(rest, wildcard);
  }
  let best: Language = fallback;
  let most = 0;
  for (const [language, weight] of weights as Map<Language, number>) {
    if (weight > most) [best, most] = [language, weight];
  }
  return best;
}

/** RFC 9110 section 12.4.2: 0 to 1, 1 without one. An invalid weight counts as 0. */
function parseWeight(parameters: readonly string[]): number {
  const weight = parameters.find((each) => /^q=/i.test(each));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.test(weight) ? Number(weight.slice(2)) : 0;
}

/** The language of a tag such as `de-AT`. */
function toLanguage(tag: string): Language | undefined {
  const primary = tag.split("-", 1)[0]!.toLowerCase();
  return LANGUAGES.find((language) => language === primary);
}

/** `ui_locales` in the query, or in the query of `redirect`. */
function findUiLocales(url: string): string | undefined {
  const query = parseForm(queryOf(url)).values;
  const own = query.get("ui_locales");
  if (own !== undefined) return own;
  const redirect = query.get("redirect");
  return redirect === undefined ? undefined : parseForm(queryOf(redirect)).values.get("ui_locales");
}
