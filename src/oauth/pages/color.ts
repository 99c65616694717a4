/**
 * Colours of the pages: parses the CSS notations that name a colour of sRGB, and measures contrast (WCAG 2.2).
 *
 * @module
 */

/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

const NUMBER = "\\s*(\\d{1,3}(?:\\.\\d+)?)";
const RGB_NOTATION = new RegExp(`^rgb\\(${NUMBER}[\\s,]${NUMBER}[\\s,]${NUMBER}\\s*\\)$`, "i");
const HSL_NOTATION = new RegExp(`^hsl\\(${NUMBER}(?:deg)?[\\s,]${NUMBER}%[\\s,]${NUMBER}%\\s*\\)$`, "i");

/** `#rgb`, `#rrggbb`, `rgb(…)` and `hsl(…)` without transparency; `undefined` for anything else. */
export function parseColor(text: string): Rgb | undefined {
  const hex = /^#(?:[\da-f]{3}){1,2}$/i.exec(text)?.[0].slice(1);
  if (hex !== undefined) {
    const digits = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
    return [0, 2, 4].map((at) => parseInt(digits.slice(at, at + 2), 16)) as unknown as Rgb;
  }
  const rgb = RGB_NOTATION.exec(text)?.slice(1).map(Number);
  if (rgb) return rgb.some((part) => part > 255) ? undefined : rgb as unknown as Rgb;
  const [hue, saturation, lightness] = HSL_NOTATION.exec(text)?.slice(1).map(Number) ?? [];
  if (hue === undefined || hue > 360 || saturation! > 100 || lightness! > 100) return undefined;
  return fromHsl(hue, saturation! / 100, lightness! / 100);
}

/** CSS Color 4 section 7.1. */
function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (at: number): number => {
    const k = (at + hue / 30) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

/** 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). */
export function contrast(a: Rgb, b: Rgb): number {
  const [less, more] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (more + 0.05) / (less + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colour mixed with so much of another, 0 to 1. */
export function mix(color: Rgb, other: Rgb, part: number): Rgb {
  return color.map((value, i) => Math.round(value + (other[i]! - value) * part)) as unknown as Rgb;
}

/** `#rrggbb` */
export function toHex(color: Rgb): string {
  return "#" + color.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("");
}
