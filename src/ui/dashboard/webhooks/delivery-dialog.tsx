import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { formatMs, formatTime } from '../../kit/format.ts';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { DeliveryCurl } from './delivery-curl.tsx';
import { DeliveryStatePill } from './delivery-state-pill.tsx';

const own = texts.deliveries;
type DeliveryData = ResultOf<'GET /api/deliveries/{deliveryId}'>;
const refreshed = [
  'GET /api/deliveries',
  'GET /api/deliveries/{deliveryId}',
  'GET /api/hooks/{hookId}/health',
] as const;

/** One delivery: its body, and each attempt with its result. A dead letter can be retried. */
export function DeliveryDialog({ deliveryId, onClose }: { deliveryId: string; onClose(): void }) {
  const canWrite = usePermission('hooks:write');
  const toasts = useToasts();
  const query = useOperation('GET /api/deliveries/{deliveryId}', { params: { deliveryId } });
  const retry = useWrite('POST /api/deliveries/{deliveryId}/retry', refreshed);
  const run = () =>
    retry.mutate(
      { given: { params: { deliveryId } } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.retried);
          onClose();
        },
      },
    );
  const delivery = query.data?.value;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width="wide"
      title={delivery?.event ?? own.detail}
      footer={
        canWrite &&
        delivery?.state === 'dead' && (
          <Button kind="primary" isBusy={retry.isPending} onClick={run}>
            {own.retry}
          </Button>
        )
      }
    >
      {!delivery && <QueryState query={query} />}
      {delivery && (
        <>
          <ErrorText error={retry.error} />
          <DeliveryContent delivery={delivery} />
        </>
      )}
    </Dialog>
  );
}

const DeliveryContent = ({ delivery }: { delivery: DeliveryData }) => (
  <div className="flex flex-col gap-5">
    <FactList
      rows={[
        [own.columns.state, <DeliveryStatePill key="state" state={delivery.state} />],
        [own.columns.hook, delivery.hook_name || delivery.hook_id],
        ...(delivery.target ? [[own.target, delivery.target] as const] : []),
        [own.columns.api, delivery.api_id || '–'],
        [own.id, <IdText key="id" id={delivery.id} maxChars={40} />],
      ]}
    />
    <section className="flex flex-col gap-2">
      <h3>{own.attempts}</h3>
      {delivery.log.length === 0 && <p className="text-dim">{own.noAttempts}</p>}
      <ol className="flex flex-col gap-1">
        {delivery.log.map(({ at, duration_ms, status, error }) => (
          <li key={at} className="flex flex-wrap gap-x-3 border-l-2 border-line pl-3">
            <span className="text-dim">{formatTime(Date.parse(at))}</span>
            <span>{own.attempt(status > 0 ? String(status) : own.noStatus, formatMs(duration_ms))}</span>
            {error && <span className="break-words text-danger">{error}</span>}
          </li>
        ))}
      </ol>
    </section>
    <section className="flex flex-col gap-2">
      <h3>{own.body}</h3>
      <BodyText label={own.body} text={delivery.body || own.noBody} />
    </section>
    <DeliveryCurl delivery={delivery} />
  </div>
);
