import { Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { Button, buttonClass } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiFields, useApiForm } from './api-form.tsx';
import { describeApplied } from './applied.ts';
import { buildDocument } from './new-api.ts';

const own = texts.apis;

export function NewApiPage() {
  const form = useApiForm();
  const toasts = useToasts();
  const navigate = useNavigate();
  const { mutate, error, isPending } = useWrite('POST /api/apis/oas', ['GET /api/apis']);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!form.check()) return;
    mutate(
      { given: { body: buildDocument(form.api) }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value, headers }) => {
          toasts.showSuccess(`${own.created(form.api.name)}. ${describeApplied(headers)}`);
          void navigate({ to: '/apis/$apiId', params: { apiId: value.ID } });
        },
      },
    );
  };
  return (
    <PageFrame title={own.newTitle} width="form">
      <form onSubmit={submit} noValidate className="max-w-[640px]">
        <Card>
          <div className="flex flex-col gap-4">
            <ErrorText error={error} />
            <ApiFields form={form} />
            <div className="flex justify-end gap-2">
              <Link to="/apis" className={buttonClass()}>
                {texts.kit.cancel}
              </Link>
              <Button kind="primary" type="submit" isBusy={isPending}>
                {own.createAction}
              </Button>
            </div>
          </div>
        </Card>
      </form>
    </PageFrame>
  );
}
