import { useState } from 'react';
import { Card } from '../../kit/card.tsx';
import { SelectField, TextAreaField, TextField } from '../../kit/field.tsx';
import { LinesField } from '../../kit/lines-field.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import {
  formatHeaders,
  type HookBody,
  type HookFaults,
  type HookMethod,
  hookMethods,
  parseHeaders,
} from './hook-draft.ts';
import { TemplatePreview } from './template-preview.tsx';

const own = webhookTexts;

export interface HookFieldsProps {
  readonly value: HookBody;
  change(some: Partial<HookBody>): void;
  readonly faults: HookFaults;
  readonly isDisabled: boolean;
  onHeaderFault(fault: string | undefined): void;
}

/** Fields of a new or stored webhook. */
export function HookFields({ value, change, faults, isDisabled, onHeaderFault }: HookFieldsProps) {
  return (
    <>
      <Card title={own.request}>
        <fieldset disabled={isDisabled} className="flex flex-col gap-4">
          <TextField
            label={own.name}
            required
            error={faults.name}
            value={value.name}
            onChange={event => change({ name: event.target.value })}
          />
          <div className="grid gap-4 min-[600px]:grid-cols-[160px_1fr]">
            <SelectField
              label={own.method}
              help={own.methodHelp}
              value={value.method}
              onChange={event => change({ method: event.target.value as HookMethod })}
              options={hookMethods.map(method => ({ value: method, label: method }))}
            />
            <TextField
              label={own.url}
              required
              isMono
              help={own.urlHelp}
              error={faults.url}
              value={value.target_path}
              onChange={event => change({ target_path: event.target.value })}
            />
          </div>
          <HeaderLines
            headers={value.header_map}
            onChange={header_map => change({ header_map })}
            onFault={onHeaderFault}
          />
          <TextField
            label={own.cooldown}
            help={own.cooldownHelp}
            type="number"
            min={0}
            max={86_400}
            unit={own.seconds}
            value={String(value.event_timeout)}
            onChange={event => change({ event_timeout: Number(event.target.value) })}
          />
        </fieldset>
      </Card>
      <TemplateCard value={value} change={change} isDisabled={isDisabled} />
    </>
  );
}

type TemplateCardProps = Pick<HookFieldsProps, 'value' | 'change' | 'isDisabled'>;

const TemplateCard = ({ value, change, isDisabled }: TemplateCardProps) => (
  <Card title={own.template}>
    <fieldset disabled={isDisabled} className="flex flex-col gap-4">
      <TextAreaField
        label={own.template}
        help={own.templateHelp}
        rows={6}
        spellCheck={false}
        className="font-mono"
        value={value.template_path}
        onChange={event => change({ template_path: event.target.value })}
      />
      {!isDisabled && <TemplatePreview template={value.template_path} />}
    </fieldset>
  </Card>
);

interface HeaderLinesProps {
  readonly headers: Readonly<Record<string, string>>;
  onChange(headers: Record<string, string>): void;
  onFault(fault: string | undefined): void;
}

/** Headers as lines; a line that is none stays with its fault, and changes nothing. */
function HeaderLines({ headers, onChange, onFault }: HeaderLinesProps) {
  const [lines, setLines] = useState(() => formatHeaders(headers));
  const { headers: typed, fault } = parseHeaders(lines);
  const isOwn = fault !== undefined || JSON.stringify(typed) === JSON.stringify(headers);
  const edit = (next: readonly string[]) => {
    setLines(next);
    const parsed = parseHeaders(next);
    onFault(parsed.fault);
    if (parsed.fault === undefined) onChange(parsed.headers);
  };
  return (
    <LinesField
      label={own.headers}
      help={own.headersHelp}
      error={fault}
      separator="line"
      values={isOwn ? lines : formatHeaders(headers)}
      onChange={edit}
    />
  );
}
