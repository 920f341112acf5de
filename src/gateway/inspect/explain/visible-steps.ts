import { z } from 'zod';
import { tryParseJson } from '#base/try-parse-json.ts';
import { nearMissMark } from './near-miss.ts';

/** Visibility for the actor who reads an explanation. */
export interface TraceViewer {
  /** True for an API that the actor may see. */
  canSee(apiId: string, orgId: string): boolean;
}

/** A step as the dashboard returns it. */
export interface VisibleStep {
  readonly phase?: 'request' | 'response';
  readonly step: string;
  readonly message: string;
  readonly took_ms?: number;
  readonly status?: number;
  readonly refusal?: string;
  readonly about?: string;
  readonly key_hash?: string;
  readonly settings?: unknown;
  readonly api_id: string;
}

export interface VisibleSteps {
  readonly is_complete: boolean;
  readonly steps: VisibleStep[];
}

/** A line of a trace, as it is stored. */
interface StoredLine {
  readonly type: 'request' | 'response';
  readonly msg: string;
  readonly mw?: string;
  readonly took_ms?: number;
  readonly code?: number;
  readonly refusal?: string;
  readonly about?: string;
  readonly key_hash?: string;
  readonly settings?: unknown;
  readonly api_id?: string;
  readonly org_id?: string;
  readonly near_api_id?: string;
  readonly near_org_id?: string;
}

/** Steps of a trace that the actor may see: a loop passes APIs of others, and a near miss names one. */
export function parseTrace(logs: string, viewer: TraceViewer): VisibleSteps {
  const lines = logs
    .split('\n')
    .map(line => JSON.parse(line) as StoredLine)
    .filter(({ mw }) => mw !== undefined);
  const visible = lines.filter(({ api_id = '', org_id = '' }) => api_id === '' || viewer.canSee(api_id, org_id));
  const steps = visible.map(line => {
    const { near_api_id = '', near_org_id = '' } = line;
    const isNearHidden = near_api_id !== '' && !viewer.canSee(near_api_id, near_org_id);
    return toVisibleStep(line, isNearHidden ? withoutNearMiss(line.msg) : line.msg);
  });
  return { is_complete: visible.length === lines.length, steps };
}

function toVisibleStep(line: StoredLine, message: string): VisibleStep {
  const { took_ms, code, refusal, about, key_hash, settings } = line;
  return {
    phase: line.type,
    step: line.mw!,
    message,
    ...(took_ms === undefined ? {} : { took_ms }),
    ...(code === undefined ? {} : { status: code }),
    ...(refusal === undefined ? {} : { refusal }),
    ...(about === undefined ? {} : { about }),
    ...(key_hash === undefined ? {} : { key_hash }),
    ...(settings === undefined ? {} : { settings }),
    api_id: line.api_id ?? '',
  };
}

const withoutNearMiss = (message: string) => message.split(nearMissMark, 1)[0]!;

/** The summary in the response header of an explained request; see `summary.ts`. */
export interface ExplanationSummary {
  readonly id: string;
  readonly steps: VisibleStep[];
}

const HeaderSummary = z.object({
  id: z.string(),
  steps: z
    .array(
      z.object({
        step: z.string(),
        message: z.string(),
        ms: z.number().optional(),
        code: z.int().optional(),
        refusal: z.string().optional(),
        api: z.string().optional(),
      }),
    )
    .default([]),
});

/** Parses the header, of which an upstream may have sent another one: the gateway appends its own. */
export function parseSummary(header: string): ExplanationSummary | undefined {
  const start = header.lastIndexOf('{"id":');
  if (start < 0) return undefined;
  const parsed = HeaderSummary.safeParse(tryParseJson(header.slice(start)));
  if (!parsed.success) return undefined;
  let apiId = '';
  const steps = parsed.data.steps.map(({ step, message, ms, code, refusal, api }) => {
    apiId = api ?? apiId;
    return {
      step,
      message: step === 'route' ? withoutNearMiss(message) : message,
      ...(ms === undefined ? {} : { took_ms: ms }),
      ...(code === undefined ? {} : { status: code }),
      ...(refusal === undefined ? {} : { refusal }),
      api_id: apiId,
    };
  });
  return { id: parsed.data.id, steps };
}
