import type { ResultOf } from '../../kit/calls.ts';
import { classNames } from '../../kit/class-names.ts';
import { formatMs } from '../../kit/format.ts';
import { texts } from '../../texts/texts.ts';

type Explanation = NonNullable<ResultOf<'POST /api/explain'>['explanation']>;

/** Decisions of the gateway in their order; a refusal has a red edge. */
export const ExplainedSteps = ({ explanation }: { explanation: Explanation | null }) =>
  explanation === null ? (
    <p className="text-dim">{texts.welcome.explainedNone}</p>
  ) : (
    <ol className="flex flex-col">
      {explanation.steps.map((step, index) => (
        <li
          // The same step can decide twice; its place is its identity.
          key={`${String(index)} ${step.step}`}
          className={classNames(
            'flex flex-wrap gap-x-3 border-l-2 py-1 pl-3',
            step.refusal ? 'border-danger bg-danger-soft' : 'border-line',
          )}
        >
          <span className="w-44 font-mono text-small">{step.step}</span>
          <span className="min-w-0 grow basis-60 break-words">
            {step.message}
            {step.about && <span className="block text-danger">{step.about}</span>}
          </span>
          {step.took_ms !== undefined && <span className="text-small text-dim">{formatMs(step.took_ms)}</span>}
        </li>
      ))}
    </ol>
  );
