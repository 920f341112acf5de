import type { KeySetReport } from '#apis/system/node-store.ts';
import { compareCodePoints } from '#base/compare-code-points.ts';

/** Bounds of what a heartbeat carries. */
const maxReportedSets = 100;
const maxTextCharacters = 300;

/** URL without what may be a secret: credentials, query and fragment. */
export function toReportedUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return 'invalid URL';
  return `${url.origin}${url.pathname}`.slice(0, maxTextCharacters);
}

const urlPattern = /\bhttps?:\/\/[^\s"'<>]+/g;

/** Reason of a failed fetch, without the secrets of URLs in it. */
export const toReportedFailure = (message: string): string =>
  message.replaceAll(urlPattern, toReportedUrl).slice(0, maxTextCharacters);

/** One report per source of what several threads or address policies have: the oldest keys, and any failure. */
export function mergeKeySetReports(all: readonly KeySetReport[]): KeySetReport[] {
  const bySource = new Map<string, KeySetReport>();
  for (const report of all) {
    const name = `${report.kind} ${report.source}`;
    const known = bySource.get(name);
    bySource.set(name, known ? mergeReports(known, report) : report);
  }
  return [...bySource.values()].sort(compareReports).slice(0, maxReportedSets);
}

const mergeReports = (one: KeySetReport, other: KeySetReport): KeySetReport => ({
  ...one,
  keys: Math.min(one.keys, other.keys),
  loadedAtMs: Math.min(one.loadedAtMs || other.loadedAtMs, other.loadedAtMs || one.loadedAtMs),
  failure: one.failure || other.failure,
});

/** Failed ones first: the bound must not hide them. */
const compareReports = (one: KeySetReport, other: KeySetReport): number =>
  Number(one.failure === '') - Number(other.failure === '') || compareCodePoints(one.source, other.source);
