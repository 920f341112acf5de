import { useId } from 'react';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly title: string;
  readonly about: string;
}

export interface ChoiceCardsProps<Value extends string> {
  readonly label: string;
  readonly choices: readonly Choice<Value>[];
  readonly value: Value;
  onChange(value: Value): void;
}

const card =
  'flex items-start gap-3 rounded-card border border-edge p-3 has-checked:border-accent has-checked:bg-accent-soft';

/** One of few: radio buttons as cards with an explanation each. */
export function ChoiceCards<Value extends string>({
  label,
  choices,
  value: chosen,
  onChange,
}: ChoiceCardsProps<Value>) {
  const name = useId();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-dim">{label}</legend>
      <div className="grid gap-3 min-[600px]:grid-cols-2">
        {choices.map(({ value, title, about }) => (
          <label key={value} className={card}>
            <input
              type="radio"
              name={name}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              checked={value === chosen}
              onChange={() => onChange(value)}
            />
            <span className="flex flex-col">
              <span className="font-medium">{title}</span>
              <span className="text-small text-dim">{about}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
