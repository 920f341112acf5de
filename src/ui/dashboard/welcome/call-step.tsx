import { useEffect, useState } from 'react';
import { toRefusalText } from '../../kit/action-text.ts';
import { StatusPill } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { CommandText } from '../../kit/command-text.tsx';
import { toCurl } from '../../kit/curl.ts';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ExplainedSteps } from './explained-steps.tsx';

const own = texts.welcome;
type Answer = ResultOf<'POST /api/explain'>;

interface CallStepProps {
  /** URL of the API, with the path of the sample. */
  readonly address: string;
  readonly secret: string | undefined;
  onAnswer(): void;
}

/** Sends requests through the gateway, with the key and without it, and shows what each step decided. */
export function CallStep({ address, secret, onAnswer }: CallStepProps) {
  const [url, setUrl] = useState(address);
  useEffect(() => setUrl(address), [address]);
  const { mutate, data, error, isPending } = useWrite('POST /api/explain');
  const send = (headers: Record<string, string>) =>
    mutate({ given: { body: { method: 'GET', url, headers } } }, { onSuccess: onAnswer });
  const credential: Record<string, string> = secret === undefined ? {} : { Authorization: secret };
  return (
    <div className="flex flex-col gap-4">
      <TextField label={own.address} isMono value={url} onChange={event => setUrl(event.target.value)} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" isBusy={isPending} onClick={() => send(credential)}>
          {own.send}
        </Button>
        {secret !== undefined && (
          <Button isBusy={isPending} onClick={() => send({})}>
            {own.sendWithoutKey}
          </Button>
        )}
      </div>
      <ErrorText error={error} />
      {data && <Response answer={data.value} />}
      <details>
        <summary className="w-fit text-small text-dim">{own.asCurl}</summary>
        <div className="mt-2">
          <CommandText command={toCurl({ method: 'GET', url, headers: credential })} label={texts.kit.copy} />
        </div>
      </details>
    </div>
  );
}

const toTone = (status: number) => (status < 400 ? 'success' : status < 500 ? 'warning' : 'danger');
const maxBodyChars = 4000;
/** A region that scrolls can be focused, so that the keyboard scrolls it (WCAG 2.1.1). */
const scrollable = { tabIndex: 0 } as const;

function toText(body: unknown): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2);
  if (!text) return own.emptyBody;
  return text.length > maxBodyChars ? `${text.slice(0, maxBodyChars)}…` : text;
}

function Response({ answer: { status_code, body, explanation } }: { answer: Answer }) {
  const refusing = explanation?.steps.find(({ refusal }) => refusal !== undefined);
  return (
    <div role="status" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <StatusPill tone={toTone(status_code)}>{own.status(status_code)}</StatusPill>
        {refusing?.refusal && <span>{own.refusedFor(toRefusalText(refusing.refusal))}</span>}
      </div>
      <section
        aria-label={own.responseBody}
        {...scrollable}
        className="max-h-60 overflow-auto rounded-control border border-line bg-page p-3"
      >
        <pre className="font-mono text-small break-all whitespace-pre-wrap">{toText(body)}</pre>
      </section>
      <details open={refusing !== undefined}>
        <summary className="w-fit text-small text-dim">{own.explained}</summary>
        <div className="mt-2">
          <ExplainedSteps explanation={explanation} />
        </div>
      </details>
    </div>
  );
}
