/* Plays events by their virtual times: at any speed, with pause, step and a way to the end. */

import { el } from "./dom.js";
import { t } from "./words.js";

const LONGEST_WAIT = 2 ** 31 - 1;

export class Player {
  /** `show` is called with each event, `ended` once when none is left or it was stopped. */
  constructor({ speed, show, ended }) {
    this.speed = speed;
    this.show = show;
    this.ended = ended;
    this.events = [];
    this.next = 0;
    this.paused = false;
    this.closed = false;
    this.pause = button(t("pause"), () => this.toggle());
    this.step = button(t("step"), () => this.once());
    this.finish = button(t("to_the_end"), () => this.toEnd());
    this.stop = button(t("stop"), () => this.end());
    this.element = el("div", { class: "row player", role: "group", "aria-label": t("player") }, this.pause, this.step, this.finish, this.stop);
  }

  /** Begin with all `events` of a trial. */
  play(events) {
    this.events = events;
    if (this.speed === "step") this.toggle();
    else this.#go();
  }

  toggle() {
    this.paused = !this.paused;
    this.pause.textContent = this.paused ? t("go_on") : t("pause");
    if (this.paused) {
      clearTimeout(this.timer);
      return;
    }
    if (this.speed === "step") this.speed = "1";
    this.#go();
  }

  once() {
    if (!this.paused) this.toggle();
    this.#one();
  }

  toEnd() {
    clearTimeout(this.timer);
    while (!this.closed) this.#one();
  }

  end() {
    if (this.closed) return;
    clearTimeout(this.timer);
    this.closed = true;
    this.element.hidden = true;
    this.ended(this.next >= this.events.length);
  }

  #go() {
    clearTimeout(this.timer);
    while (!this.closed && !this.paused) {
      const wait = this.#wait();
      if (wait > 0) {
        this.timer = setTimeout(() => (this.#one(), this.#go()), Math.min(wait, LONGEST_WAIT));
        return;
      }
      this.#one();
    }
  }

  #wait() {
    if (this.speed === "instant" || this.next === 0) return 0;
    const before = this.events[this.next - 1]?.ts ?? 0;
    const after = this.events[this.next]?.ts ?? before;
    return after > before ? (after - before) / Number(this.speed) : 0;
  }

  #one() {
    if (this.closed) return;
    if (this.next < this.events.length) {
      this.show(this.events[this.next]);
      this.next += 1;
    }
    if (this.next >= this.events.length) this.end();
  }
}

function button(text, act) {
  const made = el("button", { type: "button" }, text);
  made.addEventListener("click", act);
  return made;
}
