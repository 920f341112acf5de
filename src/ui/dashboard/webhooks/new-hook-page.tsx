import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { texts } from '../../texts/texts.ts';
import { emptyHook, findHookFaults } from './hook-draft.ts';
import { HookFields } from './hook-fields.tsx';

const own = webhookTexts;

export function NewHookPage() {
  const navigate = useNavigate();
  const toasts = useToasts();
  const [value, setValue] = useState(emptyHook);
  const [isChecked, setChecked] = useState(false);
  const [headerFault, setHeaderFault] = useState<string>();
  const { mutate, error, isPending } = useWrite('POST /api/hooks', ['GET /api/hooks']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (Object.keys(findHookFaults(value)).length > 0 || headerFault !== undefined) return;
    mutate(
      { given: { body: value } },
      {
        onSuccess: ({ value: created }) => {
          toasts.showSuccess(own.created(value.name));
          void navigate({ to: '/webhooks/$hookId', params: { hookId: created.ID } });
        },
      },
    );
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <form noValidate onSubmit={submit} className="flex max-w-[960px] flex-col gap-4">
        <ErrorText error={error} />
        <HookFields
          value={value}
          change={some => setValue({ ...value, ...some })}
          faults={isChecked ? findHookFaults(value) : {}}
          isDisabled={false}
          onHeaderFault={setHeaderFault}
        />
        <div className="flex justify-end gap-2">
          <Link to="/webhooks" className={buttonClass()}>
            {texts.kit.cancel}
          </Link>
          <Button kind="primary" type="submit" isBusy={isPending}>
            {own.createAction}
          </Button>
        </div>
      </form>
    </PageFrame>
  );
}
