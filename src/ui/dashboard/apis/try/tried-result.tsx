import { useState } from 'react';
import { toRefusalText } from '../../../kit/action-text.ts';
import { StatusPill } from '../../../kit/badge.tsx';
import type { ResultOf } from '../../../kit/calls.ts';
import { FactList } from '../../../kit/card.tsx';
import { CopyButton } from '../../../kit/copy.tsx';
import { formatMs } from '../../../kit/format.ts';
import { TabPanels } from '../../../kit/tab-panels.tsx';
import { triedRequestTexts } from '../../../texts/en/tried-requests.ts';
import { texts } from '../../../texts/texts.ts';
import { RefusedLimit } from '../../limits/refused-limit.tsx';
import { formatCurl, type TriedRequest, toFetch } from './curl.ts';
import { listSent, sumDurations } from './request-history.ts';
import { type CallExplanation, StepLane } from './step-lane.tsx';

const own = texts.tryApi;

type Result = ResultOf<'POST /api/explain'>;
const toText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body, null, 2));

/** Response, steps and snippets of one request. A refused request opens with its steps. */
export function TriedResult({ result, request, apiId }: { result: Result; request: TriedRequest; apiId: string }) {
  const { status_code: status, headers, body, explanation } = result;
  const refusing = explanation?.steps.find(it => it.refusal !== undefined);
  const refusal = refusing?.refusal;
  const keyHash = explanation?.steps.find(it => it.key_hash !== undefined)?.key_hash ?? '';
  const [tab, setTab] = useState(refusal ? 'steps' : 'response');
  return (
    <div className="flex flex-col gap-3">
      <p className="flex flex-wrap items-center gap-2">
        <StatusPill tone={status < 400 ? 'success' : 'danger'}>{own.status(status)}</StatusPill>
        {refusal && <span className="font-medium">{toRefusalText(refusal)}</span>}
      </p>
      {refusal && <RefusedLimit refusal={refusal} apiId={apiId} keyHash={keyHash} settings={refusing.settings} />}
      <TabPanels
        label={own.result}
        value={tab}
        onChange={setTab}
        panels={[
          { id: 'response', label: own.response, content: <Text text={toText(body ?? '')} empty={own.noBody} /> },
          {
            id: 'steps',
            label: own.steps,
            content: explanation ? (
              <StepLane explanation={explanation} apiId={apiId} />
            ) : (
              <p className="text-dim">{own.notExplained}</p>
            ),
          },
          ...(explanation ? listStepPanels(explanation) : []),
          { id: 'headers', label: own.responseHeaders, content: <FactList rows={Object.entries(headers)} /> },
          {
            id: 'snippets',
            label: own.snippets,
            content: (
              <div className="flex flex-col gap-3">
                <Text text={formatCurl(request)} empty="" />
                <Text text={toFetch(request)} empty="" />
              </div>
            ),
          },
        ]}
      />
    </div>
  );
}

/** Durations, and what the upstream got, as the steps report them. */
function listStepPanels({ steps }: CallExplanation) {
  const { request, upstream, response } = sumDurations(steps);
  const { parts } = triedRequestTexts;
  const durations = { request, upstream, response, total: request + upstream + response };
  const names = ['request', 'upstream', 'response', 'total'] as const;
  return [
    {
      id: 'timing',
      label: triedRequestTexts.timing,
      content: <FactList rows={names.map(name => [parts[name], formatMs(durations[name])])} />,
    },
    {
      id: 'sent',
      label: triedRequestTexts.sent,
      content: <Text text={listSent(steps).join('\n')} empty={triedRequestTexts.notSent} />,
    },
  ];
}

/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

const Text = ({ text, empty }: { text: string; empty: string }) =>
  text === '' ? (
    <p className="text-dim">{empty}</p>
  ) : (
    <div className="flex items-start gap-1 rounded-control border border-line bg-page p-2">
      <pre
        {...scrollable}
        className="max-h-[60dvh] min-w-0 grow overflow-auto font-mono text-small break-all whitespace-pre-wrap"
      >
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  );
