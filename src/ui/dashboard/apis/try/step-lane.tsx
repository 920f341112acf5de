import { Link } from '@tanstack/react-router';
import { toRefusalText } from '../../../kit/action-text.ts';
import { StatusPill, type Tone } from '../../../kit/badge.tsx';
import type { ResultOf } from '../../../kit/calls.ts';
import { classNames } from '../../../kit/class-names.ts';
import { formatMs } from '../../../kit/format.ts';
import { texts } from '../../../texts/texts.ts';
import { findStepPlace } from './step-places.ts';

const own = texts.tryApi;
const rowClass =
  'grid grid-cols-[auto_1fr_auto] items-center gap-x-3 gap-y-1 px-3 py-1.5 ' +
  '@min-[680px]:grid-cols-[72px_180px_1fr_120px_72px]';

export type CallExplanation = NonNullable<ResultOf<'POST /api/explain'>['explanation']>;
type Step = CallExplanation['steps'][number];

const isRefusing = ({ refusal, status = 0 }: Step) => refusal !== undefined || status >= 400;
const toneOf = (step: Step): Tone => (isRefusing(step) ? 'danger' : step.step === 'upstream' ? 'info' : 'success');

/** Steps of a request in their order: what each decided, how long it took; the refusing one is open. */
export function StepLane({ explanation, apiId }: { explanation: CallExplanation; apiId: string }) {
  const { steps, is_complete: isComplete } = explanation;
  const longestMs = Math.max(...steps.map(({ took_ms = 0 }) => took_ms), 0.001);
  return (
    <div className="@container flex flex-col gap-2">
      <ol className="flex flex-col gap-1">
        {steps.map((step, index) => (
          // Steps have no identity but their place.
          <li key={String(index)}>
            <StepRow step={step} apiId={apiId} share={(step.took_ms ?? 0) / longestMs} />
          </li>
        ))}
      </ol>
      {!isComplete && <p className="text-small text-dim">{own.incomplete}</p>}
    </div>
  );
}

function StepRow({ step, apiId, share }: { step: Step; apiId: string; share: number }) {
  const isRefused = isRefusing(step);
  return (
    <details
      open={isRefused}
      className={classNames('rounded-control border', isRefused ? 'border-danger-line bg-danger-soft' : 'border-line')}
    >
      <summary className={rowClass}>
        <span className="text-small text-dim">{step.phase ? own.phases[step.phase] : ''}</span>
        <span className="font-mono">{step.step}</span>
        <span
          className={classNames(
            'order-last col-span-3 min-w-0 @min-[680px]:order-none @min-[680px]:col-span-1',
            isRefused ? 'break-words' : 'truncate text-dim',
          )}
        >
          {step.message}
        </span>
        <span aria-hidden className="hidden h-1.5 rounded-full bg-hover @min-[680px]:block">
          <span
            className="block h-full rounded-full bg-accent"
            style={{ width: `${String(Math.round(share * 100))}%` }}
          />
        </span>
        <span className="text-right text-small text-dim">
          {step.took_ms === undefined ? '' : formatMs(step.took_ms)}
        </span>
      </summary>
      <StepDetail step={step} apiId={apiId} />
    </details>
  );
}

function StepDetail({ step, apiId }: { step: Step; apiId: string }) {
  const place = findStepPlace(step.step);
  const params = { apiId };
  return (
    <div className="flex flex-col gap-2 px-3 pb-3">
      {!isRefusing(step) && <p className="break-words">{step.message}</p>}
      {(step.status !== undefined || step.refusal) && (
        <p className="flex flex-wrap items-center gap-2">
          <StatusPill tone={toneOf(step)}>
            {[step.status, step.refusal && toRefusalText(step.refusal)].filter(Boolean).join(' ')}
          </StatusPill>
          {step.about}
        </p>
      )}
      {step.settings !== undefined && (
        <pre className="overflow-x-auto rounded-control bg-page p-2 font-mono text-small whitespace-pre-wrap">
          {JSON.stringify(step.settings, null, 2)}
        </pre>
      )}
      {place?.page === 'settings' && (
        <Link
          to="/apis/$apiId/settings"
          params={params}
          search={{ section: place.section }}
          className="text-accent-ink hover:underline"
        >
          {own.changeSetting}
        </Link>
      )}
      {place?.page === 'endpoints' && (
        <Link to="/apis/$apiId/endpoints" params={params} className="text-accent-ink hover:underline">
          {own.changeSetting}
        </Link>
      )}
    </div>
  );
}
