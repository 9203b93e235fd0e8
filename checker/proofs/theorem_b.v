(* Theorem B (theory 2.7) without enumeration: a balanced sum Z of 2e distinct characters keeps a distance from every
   integer c in the mean square, so that a query which loses e of 2e or more parities has 8 c e tau < 2 e + c^2 - zeta c.

   The binary digits of Z/2 are polynomials over F_2 of degree 1, 2 and 4 that are 0 at the origin, and a polynomial of
   degree d that is not 0 is 1 on a share of at least 2^-d of the inputs. *)

Require Import Reals Lra Lia ZArith List Permutation Sorted Bool.
Require Import lemma_l counting theorem_a.
Import ListNotations.
Open Scope R_scope.

(* Polynomials over F_2 in n bits, by their derivatives: f has degree at most d. *)

Fixpoint degree (n d : nat) (f : list bool -> bool) : Prop :=
  match n with
  | O => True
  | S n => degree n d (fun x => f (false :: x)) /\
      match d with
      | O => forall x, length x = n -> f (true :: x) = f (false :: x)
      | S d => degree n d (fun x => xorb (f (true :: x)) (f (false :: x)))
      end
  end.

Lemma degree_ext n d f g : (forall x, length x = n -> f x = g x) -> degree n d f -> degree n d g.
Proof.
  revert d f g. induction n; intros d f g E D; simpl in *; [exact I |].
  assert (E' : forall b x, length x = n -> f (b :: x) = g (b :: x)) by (intros; apply E; simpl; congruence).
  destruct D as [D0 D1]. split; [apply (IHn _ _ _ (fun x => E' false x) D0) |].
  destruct d as [| d].
  - intros x L. rewrite <- !E' by exact L. now apply D1.
  - apply (IHn _ (fun x => xorb (f (true :: x)) (f (false :: x)))); [| exact D1].
    intros x L. now rewrite !E'.
Qed.

Lemma degree_const n d c : degree n d (fun _ => c).
Proof.
  revert d c. induction n; intros d c; simpl; [exact I |]. split; [apply IHn |]. destruct d; [reflexivity |].
  rewrite xorb_nilpotent. apply IHn.
Qed.

Lemma degree_more n d e f : (d <= e)%nat -> degree n d f -> degree n e f.
Proof.
  revert d e f. induction n; intros d e f L D; simpl in *; [exact I |].
  destruct D as [D0 D1]. split; [apply (IHn d); auto |].
  destruct d as [| d], e as [| e]; try lia; auto.
  - apply (degree_ext _ _ (fun _ => false)); [| apply degree_const].
    intros x Lx. rewrite D1 by exact Lx. now rewrite xorb_nilpotent.
  - apply (IHn d); auto. lia.
Qed.

Lemma degree_xor n d f g : degree n d f -> degree n d g -> degree n d (fun x => xorb (f x) (g x)).
Proof.
  revert d f g. induction n; intros d f g F G; simpl in *; [exact I |].
  destruct F as [F0 F1], G as [G0 G1]. split; [now apply IHn |]. destruct d as [| d].
  - intros x L. now rewrite F1, G1.
  - eapply degree_ext; [| apply (IHn _ _ _ F1 G1)]. intros x _. simpl.
    now destruct (f (true :: x)), (f (false :: x)), (g (true :: x)), (g (false :: x)).
Qed.

Lemma degree_not n d f : degree n d f -> degree n d (fun x => negb (f x)).
Proof.
  intros D. eapply degree_ext; [| apply (degree_xor n d f (fun _ => true) D (degree_const n d true))].
  intros x _. simpl. now destruct (f x).
Qed.

Lemma degree_and n d e f g : degree n d f -> degree n e g -> degree n (d + e) (fun x => f x && g x).
Proof.
  revert d e f g. induction n; intros d e f g F G; simpl in *; [exact I |].
  destruct F as [F0 F1], G as [G0 G1]. split; [now apply IHn |].
  destruct d as [| d], e as [| e]; simpl.
  - intros x L. now rewrite F1, G1.
  - eapply degree_ext; [| apply (IHn _ _ _ _ F0 G1)]. intros x L. simpl. rewrite F1 by exact L.
    now destruct (f (false :: x)), (g (true :: x)), (g (false :: x)).
  - eapply degree_ext; [| apply (IHn _ _ _ _ F1 G0)]. intros x L. simpl. rewrite G1 by exact L.
    now destruct (f (true :: x)), (f (false :: x)), (g (false :: x)).
  - pose proof (IHn _ _ _ _ F1 G0) as A. pose proof (IHn _ _ _ _ F0 G1) as B. pose proof (IHn _ _ _ _ F1 G1) as C.
    apply (degree_more _ _ (d + S e)) in C; [| lia]. replace (S d + e)%nat with (d + S e)%nat in B by lia.
    eapply degree_ext; [| apply (degree_xor _ _ _ _ (degree_xor _ _ _ _ A B) C)]. intros x _. simpl.
    now destruct (f (true :: x)), (f (false :: x)), (g (true :: x)), (g (false :: x)).
Qed.

(* The distance of Reed-Muller codes. *)

Definition one (b : bool) : R := if b then 1 else 0.

Lemma somewhere n (f : list bool -> bool) : {exists x, length x = n /\ f x = true} + {forall x, length x = n -> f x = false}.
Proof.
  revert f. induction n; intros f.
  - destruct (f []) eqn:E; [left; now exists [] | right]. now intros [|] L.
  - destruct (IHn (fun x => f (true :: x))) as [yes | no].
    { left. destruct yes as [x [L E]]. exists (true :: x). simpl. auto. }
    destruct (IHn (fun x => f (false :: x))) as [yes | no'].
    { left. destruct yes as [x [L E]]. exists (false :: x). simpl. auto. }
    right. intros [| [|] x] L; try discriminate; [apply no | apply no']; simpl in L; lia.
Qed.

Lemma mean_one_nonneg n (f : list bool -> bool) : 0 <= mean n (fun x => one (f x)).
Proof. rewrite <- (mean_const n 0). apply mean_le. intros x. unfold one. destruct (f x); lra. Qed.

Theorem reed_muller n d f :
  degree n d f -> (exists x, length x = n /\ f x = true) -> 1 / 2 ^ d <= mean n (fun x => one (f x)).
Proof.
  revert d f. induction n; intros d f D [x [L E]].
  - destruct x; [| discriminate]. simpl. rewrite E. simpl. apply Rmult_le_reg_r with (2 ^ d); [apply pow_lt; lra |].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by (apply pow_nonzero; lra). pose proof (pow_R1_Rle 2 d). lra.
  - simpl in D. destruct D as [D0 D1]. simpl mean.
    pose proof (mean_one_nonneg n (fun x => f (true :: x))) as P1.
    pose proof (mean_one_nonneg n (fun x => f (false :: x))) as P0.
    assert (Half : forall d', d = S d' -> 1 / 2 ^ d = 1 / 2 ^ d' / 2).
    { intros d' ->. simpl. field. apply pow_nonzero. lra. }
    destruct (somewhere n (fun x => f (true :: x))) as [yes1 | no1], (somewhere n (fun x => f (false :: x))) as [yes0 | no0].
    + assert (M1 : 1 / 2 ^ d <= mean n (fun x => one (f (true :: x)))).
      { apply IHn; auto. destruct d as [| d].
        - eapply degree_ext; [| exact D0]. intros y Ly. now rewrite D1.
        - eapply degree_ext; [| apply (degree_xor _ _ _ _ D0 (degree_more _ d _ _ (Nat.le_succ_diag_r d) D1))].
          intros y _. simpl. now destruct (f (true :: y)), (f (false :: y)). }
      pose proof (IHn _ _ D0 yes0). lra.
    + destruct d as [| d].
      { destruct yes1 as [y [Ly Ey]]. rewrite D1, (no0 y Ly) in Ey by exact Ly. discriminate. }
      rewrite (Half d eq_refl). assert (M : 1 / 2 ^ d <= mean n (fun x => one (f (true :: x)))); [| lra].
      apply IHn; auto. eapply degree_ext; [| exact D1]. intros y Ly. simpl. rewrite (no0 y Ly).
      now destruct (f (true :: y)).
    + destruct d as [| d].
      { destruct yes0 as [y [Ly Ey]]. rewrite <- D1, (no1 y Ly) in Ey by exact Ly. discriminate. }
      rewrite (Half d eq_refl). assert (M : 1 / 2 ^ d <= mean n (fun x => one (f (false :: x)))); [| lra].
      apply IHn; auto. eapply degree_ext; [| exact D1]. intros y Ly. simpl. rewrite (no1 y Ly).
      now destruct (f (false :: y)).
    + destruct x as [| [|] x]; try discriminate; simpl in L; [rewrite no1 in E | rewrite no0 in E]; try discriminate; lia.
Qed.

(* Digits of the number of ones among some bits, as a counter keeps them. *)

Fixpoint ones (l : list bool) : Z :=
  match l with
  | [] => 0
  | b :: l => Z.b2z b + ones l
  end%Z.

Fixpoint digit0 (l : list bool) : bool :=
  match l with
  | [] => false
  | b :: l => xorb b (digit0 l)
  end.

Fixpoint digit1 (l : list bool) : bool :=
  match l with
  | [] => false
  | b :: l => xorb (digit1 l) (b && digit0 l)
  end.

Fixpoint digit2 (l : list bool) : bool :=
  match l with
  | [] => false
  | b :: l => xorb (digit2 l) (b && (digit0 l && digit1 l))
  end.

Lemma digits l : exists k, ones l = (Z.b2z (digit0 l) + 2 * Z.b2z (digit1 l) + 4 * Z.b2z (digit2 l) + 8 * k)%Z.
Proof.
  induction l as [| b l [k IH]]; [now exists 0%Z |].
  cbn [ones digit0 digit1 digit2]. rewrite IH.
  destruct b, (digit0 l), (digit1 l), (digit2 l); cbn [xorb andb Z.b2z]; first [exists k; lia | exists (k + 1)%Z; lia].
Qed.

Definition at_ (forms : list (list bool -> bool)) (x : list bool) : list bool := map (fun f => f x) forms.

Lemma degree_digits n forms : Forall (degree n 1) forms ->
  degree n 1 (fun x => digit0 (at_ forms x)) /\ degree n 2 (fun x => digit1 (at_ forms x))
  /\ degree n 4 (fun x => digit2 (at_ forms x)).
Proof.
  induction 1 as [| f forms F _ [D0 [D1 D2]]]; simpl.
  - repeat split; apply degree_const.
  - repeat split.
    + now apply degree_xor.
    + apply degree_xor; [exact D1 |]. now apply (degree_and n 1 1).
    + apply degree_xor; [exact D2 |]. apply (degree_and n 1 3); [exact F |]. now apply (degree_and n 1 2).
Qed.

(* The sum Z of the characters of the upper sets less those of the lower ones, as an integer, and Z/2 as a number of
   ones: of the lower parities, of the upper ones negated, and of constants that make it 0 mod 8 at the origin. *)

Fixpoint odd (U x : list bool) : bool :=
  match U, x with
  | u :: U, b :: x => xorb (u && b) (odd U x)
  | _, _ => false
  end.

Lemma degree_odd n U : degree n 1 (odd U).
Proof.
  revert U. induction n; intros U; simpl; [exact I |]. destruct U as [| u U]; simpl; [split; apply degree_const |].
  split.
  - eapply degree_ext; [| apply (IHn U)]. intros x _. simpl. now rewrite andb_false_r, xorb_false_l.
  - eapply degree_ext; [| apply (degree_const n 0 u)]. intros x _. simpl. now destruct u, (odd U x).
Qed.

Lemma odd_origin U n : odd U (repeat false n) = false.
Proof. revert U. induction n; intros [| u U]; simpl; try reflexivity. now rewrite IHn, andb_false_r. Qed.

Lemma chi_odd U x : chi U x = IZR (1 - 2 * Z.b2z (odd U x)).
Proof.
  revert x. induction U as [| u U IH]; intros [| b x]; simpl; try reflexivity. rewrite IH.
  destruct u, b, (odd U x); simpl; lra.
Qed.

Definition pairs_of := list (list bool * list bool).

Fixpoint whole (pairs : pairs_of) (x : list bool) : Z :=
  match pairs with
  | [] => 0
  | (U, T) :: pairs => 2 * (Z.b2z (odd T x) - Z.b2z (odd U x)) + whole pairs x
  end%Z.

Lemma total_whole pairs x : total pairs x = IZR (whole pairs x).
Proof.
  induction pairs as [| [U T] pairs IH]; [reflexivity |]. cbn [total whole]. rewrite plus_IZR, IH, !chi_odd.
  f_equal. rewrite <- minus_IZR. f_equal. lia.
Qed.

Definition forms_of (pairs : pairs_of) : list (list bool -> bool) :=
  flat_map (fun p => [odd (snd p); fun x => negb (odd (fst p) x)]) pairs ++ repeat (fun _ => true) (7 * length pairs).

Lemma degree_forms n pairs : Forall (degree n 1) (forms_of pairs).
Proof.
  unfold forms_of. apply Forall_app. split.
  - induction pairs as [| p pairs IH]; simpl; [constructor |].
    constructor; [apply degree_odd |]. constructor; [apply degree_not, degree_odd | exact IH].
  - apply Forall_forall. intros f I. apply repeat_spec in I. subst. apply degree_const.
Qed.

Lemma ones_app l l' : ones (l ++ l') = (ones l + ones l')%Z.
Proof. induction l; [reflexivity |]. cbn [app ones]. rewrite IHl. lia. Qed.

Lemma ones_true k : ones (repeat true k) = Z.of_nat k.
Proof. induction k; [reflexivity |]. cbn [repeat ones Z.b2z]. rewrite IHk. lia. Qed.

Lemma ones_forms pairs x : whole pairs x = (2 * ones (at_ (forms_of pairs) x) - 16 * Z.of_nat (length pairs))%Z.
Proof.
  unfold forms_of, at_. rewrite map_app, ones_app, map_repeat, ones_true.
  enough (H : whole pairs x
    = (2 * ones (map (fun f => f x) (flat_map (fun p => [odd (snd p); fun x => negb (odd (fst p) x)]) pairs))
       - 2 * Z.of_nat (length pairs))%Z) by lia.
  induction pairs as [| [U T] pairs IH]; [reflexivity |]. cbn [whole flat_map app map ones length fst snd].
  rewrite IH. destruct (odd T x), (odd U x); cbn [negb Z.b2z]; lia.
Qed.

Lemma whole_origin pairs n : whole pairs (repeat false n) = 0%Z.
Proof. induction pairs as [| [U T] pairs IH]; [reflexivity |]. cbn [whole]. now rewrite IH, !odd_origin. Qed.

Lemma digits_origin pairs n : let l := at_ (forms_of pairs) (repeat false n) in
  digit0 l = false /\ digit1 l = false /\ digit2 l = false.
Proof.
  intros l. pose proof (ones_forms pairs (repeat false n)) as H. rewrite whole_origin in H. fold l in H.
  destruct (digits l) as [k K]. rewrite K in H.
  destruct (digit0 l), (digit1 l), (digit2 l); cbn [Z.b2z] in H; repeat split; first [reflexivity | exfalso; lia].
Qed.

(* What the digits say of |Z| - c, and the mean square of that. *)

Definition zeta (c : Z) : R :=
  if (c mod 2 =? 1)%Z then 1
  else if (c mod 4 =? 2)%Z then 2
  else if ((c mod 8 =? 4) || (c mod 16 =? 8))%Z then 4
  else 0.

Lemma far (a q m : Z) : (m = 2 * a * q + a -> a * a <= m * m)%Z.
Proof.
  intros ->. replace ((2 * a * q + a) * (2 * a * q + a))%Z with (a * a * ((2 * q + 1) * (2 * q + 1)))%Z by ring.
  assert (1 <= (2 * q + 1) * (2 * q + 1))%Z by nia. pose proof (Z.square_nonneg a). nia.
Qed.

(* Z = a mod 2a and c = 0 mod 2a, or the other way round, put |Z| - c at a mod 2a. *)
Lemma apart_mod (a z c s t q r : Z) :
  (z = 2 * a * q + s)%Z -> (c = 2 * a * r + t)%Z -> (s = 0 /\ t = a \/ s = a /\ t = 0)%Z ->
  IZR (a * a) <= (Rabs (IZR z) - IZR c) ^ 2.
Proof.
  intros Hz Hc Hst. rewrite <- abs_IZR, <- minus_IZR, pow_IZR. apply IZR_le. simpl Z.of_nat.
  replace ((Z.abs z - c) ^ 2)%Z with ((Z.abs z - c) * (Z.abs z - c))%Z by ring.
  destruct (Z.abs_eq_or_opp z) as [-> | ->]; destruct Hst as [[-> ->] | [-> ->]].
  - apply (far a (q - r - 1)). lia.
  - apply (far a (q - r)). lia.
  - apply (far a (- q - r - 1)). lia.
  - apply (far a (- q - 1 - r)). lia.
Qed.

Section Distance.
  Variables (n : nat) (pairs : pairs_of).

  Notation d0 := (fun x => digit0 (at_ (forms_of pairs) x)).
  Notation d1 := (fun x => digit1 (at_ (forms_of pairs) x)).
  Notation d2 := (fun x => digit2 (at_ (forms_of pairs) x)).
  Notation origin := (repeat false n).

  Definition square_at (c : Z) (x : list bool) : R := (Rabs (total pairs x) - IZR c) ^ 2.

  Lemma digits_whole x :
    exists k, whole pairs x = (2 * Z.b2z (d0 x) + 4 * Z.b2z (d1 x) + 8 * Z.b2z (d2 x) + 16 * k)%Z.
  Proof.
    destruct (digits (at_ (forms_of pairs) x)) as [k K]. exists (k - Z.of_nat (length pairs))%Z.
    rewrite ones_forms, K. lia.
  Qed.

  Lemma square_far (a s t q r : Z) c x :
    (whole pairs x = 2 * a * q + s)%Z -> (c = 2 * a * r + t)%Z -> (s = 0 /\ t = a \/ s = a /\ t = 0)%Z ->
    IZR (a * a) <= square_at c x.
  Proof. intros. unfold square_at. rewrite total_whole. eapply apart_mod; eauto. Qed.

  Lemma square_nonneg c x : 0 <= square_at c x.
  Proof. unfold square_at. apply pow2_ge_0. Qed.

  Lemma remainder c m s : (0 < m)%Z -> (c mod m = s)%Z -> exists r, c = (m * r + s)%Z.
  Proof. intros M <-. exists (c / m)%Z. now apply Z.div_mod, Z.neq_sym, Z.lt_neq. Qed.

  (* Shares of the inputs. *)
  Definition share (f : list bool -> bool) : R := mean n (fun x => one (f x)).

  Lemma share_nonneg f : 0 <= share f.
  Proof. apply mean_one_nonneg. Qed.

  Lemma share_at d f : degree n d f -> f origin = true -> 1 / 2 ^ d <= share f.
  Proof. intros D E. apply reed_muller; auto. exists origin. split; [apply repeat_length | exact E]. Qed.

  Lemma share_ext f g : (forall x, length x = n -> f x = g x) -> share f = share g.
  Proof. intros E. apply mean_ext_length. intros x L. now rewrite E. Qed.

  Lemma D0 : degree n 1 d0. Proof. apply degree_digits, degree_forms. Qed.
  Lemma D1 : degree n 2 d1. Proof. apply degree_digits, degree_forms. Qed.
  Lemma D2 : degree n 4 d2. Proof. apply degree_digits, degree_forms. Qed.

  Lemma origin0 : digit0 (at_ (forms_of pairs) origin) = false. Proof. apply digits_origin. Qed.
  Lemma origin1 : digit1 (at_ (forms_of pairs) origin) = false. Proof. apply digits_origin. Qed.
  Lemma origin2 : digit2 (at_ (forms_of pairs) origin) = false. Proof. apply digits_origin. Qed.

  Lemma weigh c f g h (u v w : R) :
    (forall x, u * one (f x) + v * one (g x) + w * one (h x) <= square_at c x) ->
    u * share f + v * share g + w * share h <= mean n (square_at c).
  Proof. intros H. unfold share. rewrite <- !mean_scal, <- !mean_plus. now apply mean_le. Qed.

  Lemma distance2 c : (c mod 4 = 2)%Z -> 2 <= mean n (square_at c).
  Proof.
    intros M. destruct (remainder c 4 2 ltac:(lia) M) as [r R].
    assert (S : 1 / 2 ^ 1 <= share (fun x => negb (d0 x)))
      by (apply share_at; [apply degree_not, D0 | now rewrite origin0]).
    set (g := fun x => negb (d0 x)) in *.
    assert (H : 4 * share g + 0 * share g + 0 * share g <= mean n (square_at c)); [| simpl in S; lra].
    apply weigh. intros x. destruct (digits_whole x) as [k K]. pose proof (square_nonneg c x). unfold g.
    destruct (d0 x); cbn [Z.b2z negb one] in *; [lra |].
    assert (IZR (2 * 2) <= square_at c x); [| simpl in *; lra].
    apply (square_far 2 0 2 (Z.b2z (d1 x) + 2 * Z.b2z (d2 x) + 4 * k) r); lia.
  Qed.

  Lemma distance4 c : (c mod 8 = 4)%Z -> 4 <= mean n (square_at c).
  Proof.
    intros M. destruct (remainder c 8 4 ltac:(lia) M) as [r R].
    set (g := fun x => negb (d0 x) && negb (d1 x)).
    assert (H : 4 * share d0 + 16 * share g + 0 * share g <= mean n (square_at c)).
    { apply weigh. intros x. destruct (digits_whole x) as [k K]. pose proof (square_nonneg c x). unfold g.
      destruct (d0 x) eqn:E0; cbn [Z.b2z negb andb one] in *.
      - assert (IZR (2 * 2) <= square_at c x); [| simpl in *; lra].
        apply (square_far 2 2 0 (Z.b2z (d1 x) + 2 * Z.b2z (d2 x) + 4 * k) (2 * r + 1)); lia.
      - destruct (d1 x) eqn:E1; cbn [Z.b2z negb andb one] in *; [lra |].
        assert (IZR (4 * 4) <= square_at c x); [| simpl in *; lra].
        apply (square_far 4 0 4 (Z.b2z (d2 x) + 2 * k) r); lia. }
    pose proof (share_nonneg d0).
    destruct (somewhere n d0) as [yes | no].
    - assert (A : 1 / 2 ^ 1 <= share d0) by (apply reed_muller; [apply D0 | exact yes]).
      assert (B : 1 / 2 ^ (1 + 2) <= share g).
      { apply share_at; [apply degree_and; apply degree_not; [apply D0 | apply D1] |].
        unfold g. now rewrite origin0, origin1. }
      simpl in A, B. lra.
    - assert (B : 1 / 2 ^ 2 <= share (fun x => negb (d1 x)))
        by (apply share_at; [apply degree_not, D1 | now rewrite origin1]).
      assert (E : share (fun x => negb (d1 x)) = share g)
        by (apply share_ext; intros x L; unfold g; now rewrite no).
      simpl in B. lra.
  Qed.

  Lemma distance8 c : (c mod 16 = 8)%Z -> 4 <= mean n (square_at c).
  Proof.
    intros M. destruct (remainder c 16 8 ltac:(lia) M) as [r R].
    set (g := fun x => negb (d0 x) && d1 x). set (h := fun x => negb (d0 x) && negb (d1 x) && negb (d2 x)).
    assert (H : 4 * share d0 + 16 * share g + 64 * share h <= mean n (square_at c)).
    { apply weigh. intros x. destruct (digits_whole x) as [k K]. pose proof (square_nonneg c x). unfold g, h.
      destruct (d0 x) eqn:E0; cbn [Z.b2z negb andb one] in *.
      - assert (IZR (2 * 2) <= square_at c x); [| simpl in *; lra].
        apply (square_far 2 2 0 (Z.b2z (d1 x) + 2 * Z.b2z (d2 x) + 4 * k) (4 * r + 2)); lia.
      - destruct (d1 x) eqn:E1; cbn [Z.b2z negb andb one] in *.
        + assert (IZR (4 * 4) <= square_at c x); [| simpl in *; lra].
          apply (square_far 4 4 0 (Z.b2z (d2 x) + 2 * k) (2 * r + 1)); lia.
        + destruct (d2 x) eqn:E2; cbn [Z.b2z negb andb one] in *; [lra |].
          assert (IZR (8 * 8) <= square_at c x); [| simpl in *; lra].
          apply (square_far 8 0 8 k r); lia. }
    pose proof (share_nonneg d0). pose proof (share_nonneg g). pose proof (share_nonneg h).
    destruct (somewhere n d0) as [yes0 | no0].
    - assert (A : 1 / 2 ^ 1 <= share d0) by (apply reed_muller; [apply D0 | exact yes0]). simpl in A.
      destruct (somewhere n g) as [yes1 | no1].
      + assert (B : 1 / 2 ^ (1 + 2) <= share g)
          by (apply reed_muller; [apply degree_and; [apply degree_not, D0 | apply D1] | exact yes1]).
        simpl in B. lra.
      + assert (B : 1 / 2 ^ (1 + 4) <= share (fun x => negb (d0 x) && negb (d2 x))).
        { apply share_at; [apply degree_and; apply degree_not; [apply D0 | apply D2] |].
          now rewrite origin0, origin2. }
        assert (E : share (fun x => negb (d0 x) && negb (d2 x)) = share h).
        { apply share_ext. intros x L. specialize (no1 x L). unfold g, h in *.
          destruct (d0 x), (d1 x), (d2 x); simpl in *; congruence. }
        simpl in B. lra.
    - destruct (somewhere n d1) as [yes1 | no1].
      + assert (B : 1 / 2 ^ 2 <= share d1) by (apply reed_muller; [apply D1 | exact yes1]).
        assert (E : share d1 = share g) by (apply share_ext; intros x L; unfold g; now rewrite no0).
        simpl in B. lra.
      + assert (B : 1 / 2 ^ 4 <= share (fun x => negb (d2 x)))
          by (apply share_at; [apply degree_not, D2 | now rewrite origin2]).
        assert (E : share (fun x => negb (d2 x)) = share h)
          by (apply share_ext; intros x L; unfold h; now rewrite no0, no1).
        simpl in B. lra.
  Qed.

  Theorem distance c : zeta c <= mean n (square_at c).
  Proof.
    unfold zeta. destruct (Z.eqb_spec (c mod 2) 1) as [odd_c |].
    - destruct (remainder c 2 1 ltac:(lia) odd_c) as [r R]. rewrite <- (mean_const n 1). apply mean_le. intros x.
      destruct (digits_whole x) as [k K].
      apply (square_far 1 0 1 (Z.b2z (d0 x) + 2 * Z.b2z (d1 x) + 4 * Z.b2z (d2 x) + 8 * k) r); lia.
    - destruct (Z.eqb_spec (c mod 4) 2); [now apply distance2 |].
      destruct (Z.eqb_spec (c mod 8) 4); [now apply distance4 |].
      destruct (Z.eqb_spec (c mod 16) 8); [now apply distance8 |].
      simpl. rewrite <- (mean_const n 0). apply mean_le. intros x. apply square_nonneg.
  Qed.
End Distance.

(* The mean square of Z is the number of its characters. *)

Definition sets_of (pairs : pairs_of) : list (list bool) := flat_map (fun p => [fst p; snd p]) pairs.

Lemma total_orthogonal n T pairs : length T = n -> Forall (fun U => length U = n) (sets_of pairs) ->
  ~ In T (sets_of pairs) -> mean n (fun x => chi T x * total pairs x) = 0.
Proof.
  intros L. induction pairs as [| [U V] pairs IH]; intros F N.
  - rewrite (mean_ext _ _ (fun _ => 0)); [apply mean_const | intros; simpl; lra].
  - simpl in F, N. inversion F as [| ? ? FU F']; subst. inversion F' as [| ? ? FV F'']; subst.
    rewrite (mean_ext _ _ (fun x => (chi T x * chi U x + -1 * (chi T x * chi V x)) + chi T x * total pairs x))
      by (intros; simpl; lra).
    rewrite !mean_plus, mean_scal, IH, (orthogonal _ T U), (orthogonal _ T V) by intuition congruence. lra.
Qed.

Lemma total_square n pairs : NoDup (sets_of pairs) -> Forall (fun U => length U = n) (sets_of pairs) ->
  mean n (fun x => total pairs x ^ 2) = 2 * INR (length pairs).
Proof.
  induction pairs as [| [U V] pairs IH]; intros D F.
  - rewrite (mean_ext _ _ (fun _ => 0)); [rewrite mean_const; simpl; lra | intros; simpl; lra].
  - cbn [length]. rewrite S_INR. simpl in D, F. inversion D as [| ? ? NU D']; subst.
    inversion D' as [| ? ? NV D'']; subst. inversion F as [| ? ? FU F']; subst. inversion F' as [| ? ? FV F'']; subst.
    rewrite (mean_ext _ _ (fun x => ((chi U x * chi U x + chi V x * chi V x) + -2 * (chi U x * chi V x))
      + ((2 * (chi U x * total pairs x) + -2 * (chi V x * total pairs x)) + total pairs x ^ 2)))
      by (intros; simpl; lra).
    simpl in NU. assert (U <> V) by (intros E; apply NU; auto). assert (~ In U (sets_of pairs)) by auto.
    rewrite !mean_plus, !mean_scal, !norm, (orthogonal _ U V), !total_orthogonal, IH by (auto; congruence). lra.
Qed.

(* Theorem B: e disjoint pairs of distinct parities that a query drives more than 2 tau apart. *)

Theorem theorem_B_pairs (n : nat) (tau : R) (a : list bool -> R) (pairs : pairs_of) (c : Z) :
  parity_query n a -> pairs <> [] -> NoDup (sets_of pairs) -> Forall (fun U => length U = n) (sets_of pairs) ->
  Forall (fun p => 2 * tau < a (fst p) - a (snd p)) pairs -> (0 < c)%Z ->
  8 * IZR c * INR (length pairs) * tau < 2 * INR (length pairs) + IZR c ^ 2 - zeta c.
Proof.
  intros Q N D F G C. pose proof (pairing n tau a pairs Q N G) as P. pose proof (distance n pairs c) as Z.
  assert (S : mean n (square_at pairs c)
    = 2 * INR (length pairs) + IZR c ^ 2 - 2 * IZR c * mean n (fun x => Rabs (total pairs x))).
  { rewrite <- (total_square n pairs D F). unfold square_at.
    rewrite (mean_ext _ _ (fun x => (total pairs x ^ 2 + IZR c ^ 2) + - (2 * IZR c) * Rabs (total pairs x))).
    - rewrite !mean_plus, mean_scal, mean_const. lra.
    - intros x. rewrite <- (pow2_abs (total pairs x)). simpl. lra. }
  assert (0 < IZR c) by now apply IZR_lt.
  assert (4 * IZR c * (2 * INR (length pairs) * tau) < 4 * IZR c * (mean n (fun x => Rabs (total pairs x)) / 2))
    by (apply Rmult_lt_compat_l; lra).
  lra.
Qed.

(* As a statement on a query: at tau with 8 c (E + 1) tau >= 2 (E + 1) + c^2 - zeta c, some answer to every query on
   2 E + 2 or more distinct parities loses at most E of them. The largest means and the smallest are the pairs. *)

Lemma in_sets_combine (top bottom : list (list bool)) U : In U (sets_of (combine top bottom)) -> In U (top ++ bottom).
Proof.
  revert bottom. induction top as [| T top IH]; intros [| B bottom] I; simpl in I; try contradiction.
  destruct I as [<- | [<- | I]].
  - now left.
  - right. apply in_or_app. right. now left.
  - apply IH, in_app_or in I. right. apply in_or_app. destruct I; [now left | right; now right].
Qed.

Lemma nodup_sets_combine (top bottom : list (list bool)) : NoDup (top ++ bottom) -> NoDup (sets_of (combine top bottom)).
Proof.
  revert bottom. induction top as [| T top IH]; intros [| B bottom] D; try (simpl; constructor).
  - intros I. simpl in I, D. inversion D as [| ? ? N D']; subst. apply N.
    destruct I as [<- | I]; [apply in_or_app; right; now left |]. apply in_sets_combine, in_app_or in I.
    apply in_or_app. destruct I; [now left | right; now right].
  - simpl in D. inversion D as [| ? ? N D']; subst.
    apply NoDup_remove in D'. destruct D' as [D' NB]. constructor; [| now apply IH].
    intros I. apply NB. now apply in_sets_combine.
Qed.

Lemma nodup_part (l l' : list (list bool)) : NoDup (l ++ l') -> NoDup l'.
Proof. induction l; simpl; auto. intros D. inversion D; auto. Qed.

Theorem theorem_B_query (n E : nat) (tau : R) (a : list bool -> R) (live : list (list bool)) (c : Z) :
  parity_query n a -> NoDup live -> Forall (fun U => length U = n) live -> (2 * S E <= length live)%nat -> (0 < c)%Z ->
  2 * INR (S E) + IZR c ^ 2 - zeta c <= 8 * IZR c * INR (S E) * tau ->
  exists v, (lost tau v (map a live) <= E)%nat.
Proof.
  intros Q D F N C T. set (e := S E) in *. destruct (sorting _ a live) as [l [P St]]. apply sorted_keys in St.
  pose proof (Permutation_length P) as L. pose proof (Permutation_NoDup P D) as Dl.
  assert (Fl : Forall (fun U => length U = n) l) by now apply (Permutation_Forall P).
  destruct (fits_dec (map a l) tau (length l - E) (S (length l))) as [[j [_ [J W]]] | no].
  - rewrite map_length in J. exists (nth j (map a l) 0 + tau). rewrite (lost_permutation _ _ _ _ (Permutation_map a P)).
    pose proof (window_keeps tau (map a l) (length l - E) j St) as K. rewrite map_length in K.
    specialize (K ltac:(lia) ltac:(lia) W). lia.
  - exfalso. set (bottom := firstn e l). set (rest := skipn e l). set (middle := firstn (length l - 2 * e) rest).
    set (top := skipn (length l - 2 * e) rest).
    assert (Split : l = bottom ++ middle ++ top).
    { unfold middle, top. rewrite firstn_skipn. unfold bottom, rest. now rewrite firstn_skipn. }
    assert (Lb : length bottom = e) by (unfold bottom; rewrite firstn_length; lia).
    assert (Lr : length rest = (length l - e)%nat) by (unfold rest; rewrite skipn_length; lia).
    assert (Lm : length middle = (length l - 2 * e)%nat) by (unfold middle; rewrite firstn_length; lia).
    assert (Lt : length top = e) by (unfold top; rewrite skipn_length; lia).
    clearbody bottom middle top. clear rest Lr.
    assert (Nth : forall i, (i < length l)%nat -> nth i (map a l) 0 = a (nth i l [])).
    { intros i Hi. rewrite (nth_indep _ 0 (a [])) by (rewrite map_length; lia). apply map_nth. }
    assert (Top : forall j, nth (length bottom + (length middle + j)) l [] = nth j top [])
      by (intros; rewrite Split, !app_nth2_plus; reflexivity).
    assert (Bottom : forall j, (j < e)%nat -> nth j l [] = nth j bottom [])
      by (intros; rewrite Split; apply app_nth1; lia).
    assert (Gap : forall j, (j < e)%nat -> 2 * tau < a (nth j top []) - a (nth j bottom [])).
    { intros j Hj. apply Rnot_le_lt. intros Small. apply (no j); [lia |]. unfold fits. rewrite map_length.
      split; [lia |]. rewrite !Nth by lia. rewrite (Bottom j Hj), <- (Top j) in *.
      replace (j + (length l - E) - 1)%nat with (length bottom + (length middle + j))%nat by lia. exact Small. }
    assert (DU : NoDup (top ++ bottom)).
    { apply (nodup_part middle). rewrite Split in Dl. apply (Permutation_NoDup (Permutation_app_comm _ _)) in Dl.
      now rewrite <- app_assoc in Dl. }
    set (pairs := combine top bottom). assert (Lp : length pairs = e) by (unfold pairs; rewrite combine_length; lia).
    pose proof (theorem_B_pairs n tau a pairs c Q) as B. rewrite Lp in B.
    enough (8 * IZR c * INR e * tau < 2 * INR e + IZR c ^ 2 - zeta c) by lra.
    apply B; auto.
    + intros Z. rewrite Z in Lp. discriminate.
    + now apply nodup_sets_combine.
    + rewrite Forall_forall in *. intros U I. apply in_sets_combine, in_app_or in I. apply Fl. rewrite Split.
      apply in_or_app. destruct I; [right; apply in_or_app; now right | now left].
    + rewrite Forall_forall. intros [U V] I. apply (In_nth _ _ ([], [])) in I. destruct I as [j [Hj Ej]].
      unfold pairs in *. rewrite combine_nth in Ej by congruence. injection Ej as <- <-. simpl. apply Gap. lia.
Qed.

(* A game: q adaptive queries that surely identify one of N distinct parities need N <= q E + E + 1, since while more than
   2 E + 1 are left some answer loses at most E. *)

Theorem theorem_B_game (n E q : nat) (tau : R) (c : Z) (sets : list (list bool)) :
  (0 < c)%Z -> 2 * INR (S E) + IZR c ^ 2 - zeta c <= 8 * IZR c * INR (S E) * tau ->
  NoDup sets -> Forall (fun U => length U = n) sets ->
  identifies (list bool) (parity_query n) tau q sets -> (length sets <= q * E + E + 1)%nat.
Proof.
  intros C T D F I. induction I as [q live one | q live a Q I IH]; [lia |].
  destruct (le_lt_dec (2 * S E) (length live)) as [many | few]; [| simpl; lia].
  destruct (theorem_B_query n E tau a live c Q D F many C T) as [v V].
  pose proof (kept_lost _ tau a v live) as K. specialize (IH v).
  assert (length (kept _ tau a v live) <= q * E + E + 1)%nat; [| simpl; lia].
  apply IH.
  - now apply NoDup_filter.
  - rewrite Forall_forall in *. intros U J. apply filter_In in J. now apply F.
Qed.

(* With c = 4: T(e) <= (e + 6)/(16 e). At tolerance 1/10 that is T(10), so that nine are lost at most. *)

Corollary T_six (n e : nat) (tau : R) (a : list bool -> R) (pairs : pairs_of) :
  parity_query n a -> length pairs = e -> (0 < e)%nat -> NoDup (sets_of pairs) ->
  Forall (fun U => length U = n) (sets_of pairs) -> Forall (fun p => 2 * tau < a (fst p) - a (snd p)) pairs ->
  tau < (INR e + 6) / (16 * INR e).
Proof.
  intros Q <- L D F G. assert (0 < INR (length pairs)) by now apply lt_0_INR.
  pose proof (theorem_B_pairs n tau a pairs 4 Q) as B. unfold zeta in B. simpl in B.
  apply Rmult_lt_reg_l with (16 * INR (length pairs)); [lra |].
  replace (16 * INR (length pairs) * ((INR (length pairs) + 6) / (16 * INR (length pairs)))) with (INR (length pairs) + 6)
    by (field; lra).
  enough (8 * 4 * INR (length pairs) * tau < 2 * INR (length pairs) + 4 * (4 * 1) - 4) by lra.
  apply B; auto; [intros ->; simpl in L; lia | lia].
Qed.

Corollary one_tenth (n q : nat) (sets : list (list bool)) :
  NoDup sets -> Forall (fun U => length U = n) sets ->
  identifies (list bool) (parity_query n) (1 / 10) q sets -> (length sets <= 9 * q + 10)%nat.
Proof.
  intros D F I. pose proof (theorem_B_game n 9 q (1 / 10) 4 sets ltac:(lia)) as G.
  enough (length sets <= q * 9 + 9 + 1)%nat by lia. apply G; auto. unfold zeta. simpl. lra.
Qed.

Check reed_muller.
Check distance.
Check theorem_B_pairs.
Check theorem_B_query.
Check theorem_B_game.
Check T_six.
Check one_tenth.
Print Assumptions theorem_B_game.
Print Assumptions T_six.
