import { useEffect, useRef } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { BodyText } from '../../kit/body-text.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatMs } from '../../kit/format.ts';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText, Skeleton } from '../../kit/states.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { type HookData, nameHook } from './hook-draft.ts';

const own = webhookTexts;

/** Sends a test event once, and shows request and response. */
export function HookTestDialog({ hook, onClose }: { hook: HookData; onClose(): void }) {
  const { mutate, data, error } = useWrite('POST /api/hooks/{hookId}/test');
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    mutate({ given: { params: { hookId: hook.id } } });
  }, [mutate, hook.id]);
  const result = data?.value;
  return (
    <Dialog isOpen onClose={onClose} width="wide" title={own.testTitle} about={nameHook(hook)}>
      <ErrorText error={error} />
      {!result && !error && <Skeleton lines={4} />}
      {result && (
        <div className="flex flex-col gap-4">
          <p>
            <StatusPill tone={result.delivered ? 'success' : 'danger'}>
              {result.delivered
                ? own.testDelivered(result.status, formatMs(result.duration_ms))
                : own.testFailed(result.error)}
            </StatusPill>
          </p>
          <section className="flex flex-col gap-2">
            <h3>{own.request}</h3>
            <code className="font-mono text-small break-all">
              {result.request.method} {result.request.url}
            </code>
            <BodyText label={own.request} text={result.request.body || own.noBody} />
          </section>
          <section className="flex flex-col gap-2">
            <h3>{own.response}</h3>
            <BodyText label={own.response} text={result.response_body || own.noBody} />
          </section>
        </div>
      )}
    </Dialog>
  );
}
